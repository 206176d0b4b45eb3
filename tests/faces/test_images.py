"""`specc run --image` and `specc draw --attention`: images in, classes and maps out."""

from __future__ import annotations

import json
import struct
import zlib
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from specc.faces.cli import main
from specc.tools.attention_picture import COLOURS, GAP, SHARE
from specc.tools.runtime.pictures import preparation, read_image
from tests.reference.published import write
from tests.tolerance import TOLERANCE, distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40, "image_size": 24, "patch_size": 6}
LABELS = {"id2label": {0: "cat", 1: "dog", 2: "owl"}, "label2id": {"cat": 0, "dog": 1, "owl": 2}}


@cache
def built() -> tuple[Path, Path]:
    """A checkpoint of a small classifier, and its graph with all attention maps."""
    folder = Path(mkdtemp())
    checkpoint = write(folder / "checkpoint", transformers.ViTConfig(**SIZES | LABELS), "ViTForImageClassification", spread=0.3)
    assert main(["import", str(checkpoint), "-o", str(folder / "m.specc")]) == 0
    more = ["--weights", str(checkpoint), "--outputs", "attentions:all"]
    assert main(["build", str(folder / "m.specc"), "--to", "onnx", "-o", str(folder / "graph"), *more]) == 0
    return checkpoint, folder / "graph"


def reference(pixels: np.ndarray) -> Any:
    model = transformers.ViTForImageClassification.from_pretrained(built()[0], attn_implementation="eager").float().eval()
    with torch.no_grad():
        return model(torch.from_numpy(pixels), output_attentions=True, interpolate_pos_encoding=True)


@pytest.fixture
def array(tmp_path: Path) -> tuple[Path, np.ndarray]:
    """Pixel values of three rows and five columns of patches."""
    pixels = np.random.default_rng(0).standard_normal((1, 3, 18, 30)).astype(np.float32)
    np.save(tmp_path / "x.npy", pixels)
    return tmp_path / "x.npy", pixels


def test_classes_of_an_array(array, capsys: pytest.CaptureFixture) -> None:
    path, pixels = array
    graph = str(built()[1])
    capsys.readouterr()
    assert main(["run", graph, "--image", str(path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    want = reference(pixels).logits.softmax(-1)[0]
    assert found["label"] == LABELS["id2label"][int(want.argmax())]
    assert distance(np.array([found["scores"][name] for name in ("cat", "dog", "owl")]), want.numpy()) <= TOLERANCE["float32"]
    assert main(["run", graph, "--image", str(path)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"{found['label']}  {found['score']:.4f}"


PROCESSORS = {
    "ViTImageProcessorPil": {"size": {"height": 20, "width": 28}, "resample": 2},
    "BitImageProcessorPil": {"size": {"shortest_edge": 31}, "crop_size": {"height": 24, "width": 24}, "resample": 3},
    "CLIPImageProcessorPil": {"size": {"shortest_edge": 24}, "crop_size": {"height": 18, "width": 24}, "do_normalize": False},
}


@pytest.mark.parametrize("name", PROCESSORS)
@pytest.mark.parametrize("size", [(50, 37), (37, 50)])
def test_an_image_is_prepared_as_its_settings_say(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(1).integers(0, 256, (*size, 3), dtype=np.uint8)
    image.fromarray(pixels).save(tmp_path / "x.png")
    processor = getattr(transformers, name)(**PROCESSORS[name])
    processor.save_pretrained(tmp_path)
    made = read_image(tmp_path / "x.png", preparation(tmp_path, None, None, None), 3)
    want = np.asarray(processor(images=image.open(tmp_path / "x.png"), return_tensors="np")["pixel_values"])
    assert made.pixels.shape == want.shape
    assert np.abs(made.pixels - want).max() < 1e-5


def test_an_image_file(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    image = pytest.importorskip("PIL.Image")
    values = np.random.default_rng(1).integers(0, 256, (24, 36, 3), dtype=np.uint8)
    image.fromarray(values).save(tmp_path / "x.png")
    how = ["--size", "24,36", "--mean", "0.5,0.4,0.3", "--std", "0.2,0.25,0.5"]
    assert main(["run", str(built()[1]), "--image", str(tmp_path / "x.png"), *how, "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    pixels = ((values / 255 - [0.5, 0.4, 0.3]) / [0.2, 0.25, 0.5]).transpose(2, 0, 1)[None].astype(np.float32)
    want = reference(pixels).logits.softmax(-1)[0].numpy()
    assert distance(np.array(list(found["scores"].values())), want) <= TOLERANCE["float32"]


def decoded(data: bytes) -> np.ndarray:
    """The pixels of a PNG whose rows are stored as they are."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content)
        chunks[kind], at = content, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width * 3)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


@pytest.mark.parametrize(("more", "layer", "token"), [((), 1, 0), (("--layer", "0"), 0, 0), (("--token", "7"), 1, 7)])
def test_attention_over_an_image(array, more: tuple[str, ...], layer: int, token: int, tmp_path: Path) -> None:
    """Four tiles: the image, and each head's map, in which the strongest patch has the brightest colour and the weakest the darkest."""
    path, pixels = array
    out = tmp_path / "y.png"
    assert main(["draw", str(built()[1]), "--attention", "--image", str(path), "-o", str(out), *more]) == 0
    whole = decoded(out.read_bytes())
    times = -(-224 // 18)
    height, width = 18 * times, 30 * times
    assert whole.shape == (2 * height + GAP, 2 * width + GAP, 3)
    tiles = [whole[top : top + height, left : left + width] for top in (0, height + GAP) for left in (0, width + GAP)]
    image = tiles[0][::times, ::times].astype(float)
    maps = reference(pixels).attentions[layer][0, :, token, 1:].reshape(3, 3, 5).numpy()
    for tile, map_ in zip(tiles[1:], maps, strict=True):
        colours = (tile[::times, ::times] - (1 - SHARE) * image) / SHARE  # [18, 30, 3]
        patches = colours[3::6, 3::6]
        for place, colour in ((map_.argmax(), COLOURS[-1]), (map_.argmin(), COLOURS[0])):
            assert np.abs(patches[np.unravel_index(place, map_.shape)] - colour).max() < 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "GRAPH", "--image", "x.png"], "holds no preprocessor_config.json"),
        (["run", "GRAPH", "--image", "wrong.npy"], "holds no pixel values of one image"),
        (["run", "GRAPH", "--image", "small.npy"], "a single patch 6 times 6"),
        (["run", "GRAPH", "--image", "text.npy"], "cannot be read as an array"),
        (["run", "GRAPH", "--ids", "1,2"], "this graph reads images"),
        (["run", "GRAPH", "--image", "x.npy", "--top-k", "3"], "is for generating"),
        (["run", "GRAPH", "--image", "text.png", "--size", "24", "--mean", "0", "--std", "1"], "text.png cannot be read as an image"),
        (["run", "GRAPH", "--image", "x.png", "--size", "big", "--mean", "0", "--std", "1"], "`--size big` is not what it takes"),
        (["draw", "GRAPH", "--attention", "--image", "x.npy", "-o", "y.png", "--layer", "2"], "no attention map of layer 2"),
        (["draw", "GRAPH", "--attention", "--image", "x.npy", "-o", "y.png", "--token", "99"], "there is no token 99"),
        (["draw", "GRAPH", "--attention", "-o", "y.png"], "there is no image to look at"),
        (["draw", "GRAPH", "-o", "y.html", "--image", "x.npy"], "--image belongs to --attention"),
    ],
)
def test_wrong_use(arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    if "text.png" in arguments:
        pytest.importorskip("PIL.Image")
    graph = str(built()[1])
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.zeros((3, 12, 12), np.float32))
    np.save("wrong.npy", np.zeros((4, 12, 12), np.float32))
    np.save("small.npy", np.zeros((3, 12, 5), np.float32))
    for name in ("text.npy", "text.png"):
        Path(name).write_text("no image")
    capsys.readouterr()
    assert main([graph if a == "GRAPH" else a for a in arguments]) == 2
    said = capsys.readouterr().err
    assert "error SYS022" in said and words in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": 24, "do_pad": True}, "padding"),
        ({"size": 24, "image_mean": [0.5], "image_std": [0.5]}, "by which filter"),
        ({"size": {"longest_edge": 24}, "resample": 2}, "neither a height and a width"),
        ({"do_resize": False, "image_mean": [0.5], "image_std": [0]}, "holds a zero"),
        ({"do_resize": False, "image_std": [1]}, "`image_mean` is not a list of numbers"),
        ([], "no JSON object"),
    ],
)
def test_settings_that_do_not_say_it(settings: Any, words: str, tmp_path: Path) -> None:
    from specc.diagnostics import SpecError

    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    with pytest.raises(SpecError) as caught:
        preparation(tmp_path, None, None, None)
    assert words in caught.value.diagnostics[0].message


def test_without_pillow(array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """An image file cannot be read then, and the line says what to install; an array still can."""
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "PIL"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert main(["run", str(built()[1]), "--image", "x.png", "--size", "24", "--mean", "0", "--std", "1"]) == 2
    assert "pip install 'specc-compiler[images]'" in capsys.readouterr().err
    assert main(["draw", str(built()[1]), "--attention", "--image", str(array[0]), "-o", str(tmp_path / "y.png")]) == 0
