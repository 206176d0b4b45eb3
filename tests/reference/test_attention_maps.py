"""What each query takes of each key, as `--outputs attentions:...` gives it, against the eager attention of transformers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specc.faces.cli import main
from tests.importer.configs import kind_of
from tests.reference.published import Ours, call, positions, write
from tests.tolerance import TOLERANCE, distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

COMMON = {"vocab_size": 61, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
WIDE = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40}
LATENT = {"q_lora_rank": 12, "kv_lora_rank": 8, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 5, "n_routed_experts": 4,
          "num_experts_per_tok": 2, "moe_intermediate_size": 16, "first_k_dense_replace": 1, "num_key_value_heads": 4}  # fmt: skip
TEXTS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("AutoModelForCausalLM", WIDE | {"num_key_value_heads": 2, "head_dim": 10}),
    "gpt2": ("AutoModelForCausalLM", {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 40}),
    "gemma2": ("AutoModelForCausalLM", WIDE | {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 5, "attn_logit_softcapping": 2.0}),
    "gpt_oss": ("AutoModelForCausalLM", WIDE | {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 5, "num_local_experts": 4}),
    "bloom": ("AutoModelForCausalLM", {"hidden_size": 24, "n_layer": 3, "n_head": 4}),
    "deepseek_v2": ("AutoModelForCausalLM", WIDE | LATENT),
    "bert": ("AutoModelForMaskedLM", WIDE),
    "albert": ("AutoModelForMaskedLM", WIDE | {"embedding_size": 16}),
    "deberta_v2": ("AutoModelForMaskedLM", WIDE | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 4}),
    "mpnet": ("AutoModelForMaskedLM", WIDE),
    "modernbert": ("AutoModelForMaskedLM", WIDE | {"local_attention": 6}),
}
IMAGES: dict[str, dict[str, Any]] = {
    "ViTModel": {},
    "BeitModel": {"use_relative_position_bias": True},
    "Dinov2WithRegistersModel": {},
    "SiglipVisionModel": {},
}


@pytest.mark.parametrize("family", TEXTS)
def test_of_texts(family: str, tmp_path: Path) -> None:
    name, given = TEXTS[family]
    config = transformers.AutoConfig.for_model(kind_of(family), **COMMON | given)
    folder = write(tmp_path / "checkpoint", config, name, spread=0.3)
    (tmp_path / "work").mkdir()
    ours = Ours(folder, tmp_path / "work", "--outputs", "attentions:all")
    model = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager").float().eval()
    ids = np.random.default_rng(0).integers(3, 61, (2, 13))
    mask = np.ones_like(ids)
    causal = name.endswith("CausalLM")
    mask[1, slice(0, 4) if causal else slice(-4, None)] = 0
    more = {"position_ids": torch.from_numpy(positions(mask))} if causal and family not in ("bloom",) else {}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), output_attentions=True, **more).attentions
        mine = ours.network(torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).attentions
    theirs = call(ours.session, {"input_ids": ids, "attention_mask": mask, "position_ids": positions(mask), "token_type_ids": np.zeros_like(ids)})
    assert len(want) == len(mine) == 3 and [n for n in theirs if n.startswith("attentions.")] == [f"attentions.{n}" for n in range(3)]
    for number, expected in enumerate(want):
        for row, real in enumerate(mask.astype(bool)):
            expected_row = expected.numpy()[row][:, real]  # of real queries: padding takes evenly of everything there
            assert distance(mine[number].numpy()[row][:, real], expected_row) <= TOLERANCE["float32"], number
            assert distance(theirs[f"attentions.{number}"][row][:, real], expected_row) <= TOLERANCE["float32"], number


@pytest.mark.parametrize("name", IMAGES)
def test_of_images(name: str, tmp_path: Path) -> None:
    given = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 24, "patch_size": 6}
    if not name.startswith("Dinov2"):
        given["intermediate_size"] = 40
    folder = write(tmp_path / "checkpoint", getattr(transformers, name).config_class(**given | IMAGES[name]), name, spread=0.3)
    (tmp_path / "work").mkdir()
    ours = Ours(folder, tmp_path / "work", "--outputs", "attentions:0", "--outputs", "attentions:last")
    model = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager").float().eval()
    pixels = np.random.default_rng(0).standard_normal((2, 3, 24, 24)).astype(np.float32)
    with torch.no_grad():
        want = model(torch.from_numpy(pixels), output_attentions=True).attentions
        mine = ours.network(torch.from_numpy(pixels)).attentions
    theirs = dict(zip([o.name for o in ours.session.get_outputs()], ours.session.run(None, {"pixel_values": pixels}), strict=True))
    assert len(mine) == 2 and [n for n in theirs if n.startswith("attentions.")] == ["attentions.0", "attentions.2"]
    for own, number in ((0, 0), (1, 2)):
        expected = want[number].numpy()
        assert distance(mine[own].numpy(), expected) <= TOLERANCE["float32"]
        assert distance(theirs[f"attentions.{number}"], expected) <= TOLERANCE["float32"]


def test_with_a_cache(tmp_path: Path) -> None:
    """A step's map is over all tokens so far, in both back ends."""
    config = transformers.AutoConfig.for_model("llama", **COMMON | TEXTS["llama"][1])
    folder = write(tmp_path / "checkpoint", config, spread=0.3)
    (tmp_path / "work").mkdir()
    ours = Ours(folder, tmp_path / "work", "--outputs", "attentions:last")
    ids = np.random.default_rng(0).integers(3, 61, (2, 9))
    ones = np.ones_like(ids)
    whole = call(ours.session, {"input_ids": ids, "attention_mask": ones, "position_ids": positions(ones)})["attentions.2"]
    first = call(ours.session, {"input_ids": ids[:, :6], "attention_mask": ones[:, :6], "position_ids": positions(ones)[:, :6]})
    past = {name.replace("present", "past_key_values", 1): value for name, value in first.items() if name.startswith("present")}
    step = call(ours.session, {"input_ids": ids[:, 6:], "attention_mask": ones, "position_ids": positions(ones)[:, 6:]} | past)
    assert step["attentions.2"].shape == (2, 4, 3, 9)
    assert distance(step["attentions.2"], whole[:, :, 6:]) <= TOLERANCE["float32"]
    with torch.no_grad():
        before = ours.network(torch.from_numpy(ids[:, :6]))
        (map_,) = ours.network(torch.from_numpy(ids[:, 6:]), cache=before.cache).attentions
    assert distance(map_.numpy(), whole[:, :, 6:]) <= TOLERANCE["float32"]


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("attentions:3", "OUT001", "counted from 0 to 1"),
        ("attentions:-1", "OUT001", "the forms are"),
        ("hidden_states:all", "OUT001", "the forms are"),
    ],
)
def test_what_cannot_be_had(what: str, code: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    spec = tmp_path / "m.specc"
    spec.write_text(
        "model m { vocab = 12  dim = 8  depth = 2  mask = causal  norm = rms(eps: 1e-5)  attention = attention(heads: 2)"
        "  ffn = mlp(hidden: 8, activation: relu)  block = pre_norm  head = lm(tied: true) }"
    )
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path / "out"), "--outputs", what]) == 1
    said = capsys.readouterr().err
    assert f"error {code}" in said and words in said and not (tmp_path / "out").exists()


TWICE = """model m { vocab = 12  dim = 8  depth = 2  mask = causal  norm = rms(eps: 1e-5)  attention = attention(heads: 2)
  ffn = mlp(hidden: 8, activation: relu)  block = twice  head = lm(tied: true) }
block twice(x) { final_norm = norm  x = x + attention(norm.attention(x))  x = x + ffn(norm.ffn(x))  x = x + attention(norm.again(x)) }"""


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        (TWICE, (), "layer 1 calls 2 attentions"),
        (TWICE.replace("  x = x + attention(norm.again(x))", ""), ("--provider", "cuda"), "on the CPU only"),
    ],
)
def test_maps_that_a_model_or_a_provider_does_not_have(text: str, more: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    spec = tmp_path / "m.specc"
    spec.write_text(text)
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path / "out"), "--outputs", "attentions:last", *more]) == 1
    said = capsys.readouterr().err
    assert "error OUT002" in said and words in said and not (tmp_path / "out").exists()


def test_the_last_of_layers_that_share_weights(tmp_path: Path) -> None:
    name, given = TEXTS["albert"]
    folder = write(tmp_path / "checkpoint", transformers.AutoConfig.for_model("albert", **COMMON | given), name, spread=0.3)
    (tmp_path / "work").mkdir()
    ours = Ours(folder, tmp_path / "work", "--outputs", "attentions:last")
    ids = torch.from_numpy(np.random.default_rng(0).integers(3, 61, (2, 9)))
    model = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager").float().eval()
    with torch.no_grad():
        want = model(input_ids=ids, output_attentions=True).attentions[-1].numpy()
        (mine,) = ours.network(ids).attentions
    theirs = call(ours.session, {"input_ids": ids.numpy(), "attention_mask": np.ones((2, 9), np.int64), "token_type_ids": np.zeros((2, 9), np.int64)})
    assert distance(mine.numpy(), want) <= TOLERANCE["float32"]
    assert distance(theirs["attentions.2"], want) <= TOLERANCE["float32"]
