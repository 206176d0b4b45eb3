"""Image models in every class that specc knows of them, at their own size and at others that are no squares, against transformers."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reference.published import Ours, write
from tests.tolerance import TOLERANCE, distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

SMALL = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40, "image_size": 24, "patch_size": 6, "layer_norm_eps": 0.01}
CLIP = SMALL | {"projection_dim": 10, "hidden_act": "quick_gelu"}
DINO = {name: value for name, value in SMALL.items() if name != "intermediate_size"} | {"num_labels": 5}
RELATIVE = {"use_relative_position_bias": True}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("ViTModel", SMALL),
    ("ViTForImageClassification", SMALL | {"num_labels": 5, "qkv_bias": False, "patch_size": [6, 4]}),
    ("DeiTModel", SMALL),
    ("DeiTForImageClassification", SMALL | {"num_labels": 5}),
    ("DeiTForImageClassificationWithTeacher", SMALL | {"num_labels": 5}),
    ("Dinov2Model", DINO | {"layerscale_value": 0.5}),
    ("Dinov2ForImageClassification", DINO | {"use_swiglu_ffn": True, "use_mask_token": False}),
    ("Dinov2WithRegistersModel", DINO | {"num_register_tokens": 3}),
    ("Dinov2WithRegistersForImageClassification", DINO | {"num_register_tokens": 3}),
    ("BeitModel", SMALL | RELATIVE),
    ("BeitModel", SMALL | {"use_shared_relative_position_bias": True, "use_mean_pooling": False, "layer_scale_init_value": 0.0}),
    ("BeitForImageClassification", SMALL | RELATIVE | {"use_absolute_position_embeddings": True, "use_mask_token": True, "num_labels": 5}),
    ("BeitForImageClassification", SMALL | {"use_mean_pooling": False, "num_labels": 5}),
    ("CLIPVisionModel", CLIP),
    ("CLIPVisionModelWithProjection", CLIP),
    ("CLIPForImageClassification", {"vision_config": CLIP}),
    ("SiglipVisionModel", SMALL),
    ("SiglipVisionModel", SMALL | {"vision_use_head": False}),
    ("SiglipForImageClassification", {"vision_config": SMALL}),
]
SIZES = ((24, 24), (24, 36), (37, 18), (12, 12))  # its own, wider, taller with pixels that fill no patch, smaller
OUTPUTS = ("logits", "last_hidden_state", "pooler_output", "image_embeds")


def _config(name: str, given: dict[str, Any]) -> Any:
    cls = getattr(transformers, name).config_class
    return cls(**given, text_config={"hidden_size": 8, "num_hidden_layers": 1}) if "vision_config" in given else cls(**given)


@pytest.mark.parametrize(("name", "given"), CASES, ids=[f"{name}-{number}" for number, (name, _) in enumerate(CASES)])
def test_against_transformers(name: str, given: dict[str, Any], tmp_path: Path) -> None:
    folder = write(tmp_path / "checkpoint", _config(name, given), name)
    reference = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager").float().eval()
    takes = inspect.signature(reference.forward).parameters
    (tmp_path / "work").mkdir()
    ours = Ours(folder, tmp_path / "work")
    bent = "patch_size" in given and isinstance(given["patch_size"], list)  # the reference takes its table for a square
    for number, (height, width) in enumerate(SIZES[:1] if bent else SIZES):
        pixels = np.random.default_rng(number).standard_normal((2, 3, height, width)).astype(np.float32)
        more = {"interpolate_pos_encoding": True} if (height, width) != SIZES[0] and takes.keys() & {"interpolate_pos_encoding", "kwargs"} else {}
        more = {} if name.startswith("Dinov2") else more
        with torch.no_grad():
            want = reference(pixel_values=torch.from_numpy(pixels), **more)
            mine = ours.network(torch.from_numpy(pixels))
        theirs = dict(zip([o.name for o in ours.session.get_outputs()], ours.session.run(None, {"pixel_values": pixels}), strict=True))
        compared = [o for o in OUTPUTS if getattr(want, o, None) is not None and (o in theirs or o != "pooler_output")]
        assert compared and set(compared) <= theirs.keys()
        for output in compared:
            expected = getattr(want, output).numpy()
            assert distance(getattr(mine, output).numpy(), expected) <= TOLERANCE["float32"], (output, height, width)
            assert distance(theirs[output], expected) <= TOLERANCE["float32"], (output, height, width)


def test_a_table_of_zeros_at_its_own_size_changes_nothing_and_of_ones_adds_one() -> None:
    """vit-pos-interp-shortcut, https://github.com/huggingface/candle/issues/2286: the way around the interpolation gives the table alone"""
    from tests.harness import draw, model_of, run_onnx, run_torch

    text = """model m {
      dim = 8  depth = 1  input = image(size: 8, channels: 1, patch: 2)  embed = concat(class_token(), patches()) + learned_position()
      mask = bidirectional  norm = layer(eps: 1e-5)  attention = attention(heads: 2)  ffn = mlp(hidden: 6, activation: relu)
      block = silent(x)  final_norm = none  head = hidden
    }
    block silent(x) { x = 0 * attention(x) + x }""".replace("silent(x)  final", "silent  final")
    model = model_of(text)
    pixels = {"pixel_values": np.random.default_rng(0).standard_normal((2, 1, 8, 8)).astype(np.float32)}
    for run in (run_torch, run_onnx):
        weights = draw(model)
        table = weights["embed_learned_position.weight"]
        weights["embed_learned_position.weight"] = np.zeros_like(table)
        plain = run(model, weights, pixels)["last_hidden_state"]
        weights["embed_learned_position.weight"] = table
        moved = run(model, weights, pixels)["last_hidden_state"]
        assert distance(moved - plain, np.broadcast_to(table, plain.shape)) < 1e-5


def test_registers_stand_behind_the_class_token_and_have_no_position() -> None:
    """vit-nonsquare-and-registers, https://github.com/facebookresearch/dinov2/issues/333: height and width apart, 17 rows of a table"""
    from tests.harness import draw, model_of, run_onnx, run_torch

    looks = "dim = 8  depth = 1  input = image(size: 8, channels: 1, patch: 2)  mask = bidirectional  norm = layer(eps: 1e-5)"
    rest = "attention = attention(heads: 2)  ffn = mlp(hidden: 6, activation: relu)  block = pre_norm  head = hidden"
    tokens = "concat(class_token(), patches()) + learned_position()"
    for embed, count in ((tokens, 25), (f"insert(registers(4), at: 1, into: {tokens})", 29)):
        model = model_of(f"model m {{ {looks}  {rest}  embed = {embed} }}")
        assert model.parameters()["embed_learned_position.weight"].shape == (17, 8)
        pixels = np.random.default_rng(0).standard_normal((1, 1, 12, 8)).astype(np.float32)
        for run in (run_torch, run_onnx):
            assert run(model, draw(model), {"pixel_values": pixels})["last_hidden_state"].shape == (1, count, 8)


@pytest.mark.parametrize("name", ["Dinov2Model", "CLIPForImageClassification"])
def test_verify_against_the_published_class(name: str, tmp_path: Path) -> None:
    """Of its own size and of another one; a config of images has no token that stands for padding."""
    from specc.tools.verify.published import verify_published

    given = DINO if name == "Dinov2Model" else {"vision_config": CLIP}
    _config(name, given | {"architectures": [name]}).save_pretrained(tmp_path)
    proof = verify_published(tmp_path)
    assert proof.ok
    assert {(row.check, row.want) for row in proof.rows} >= {("own size", "transformers"), ("another size", "transformers")}
