"""Importing peft's folder: every field of its config is used, refused, or named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from specc.diagnostics.finding import SpecError
from specc.faces.loading import one_model
from specc.tools.importer.adapter.patterns import safe
from specc.tools.importer.adapter.run import import_adapter
from tests.adapter.models import TINY

WEIGHTS = """
  weights hf {
    root = "model."
    embed.tokens = "embed_tokens"
    layers[i].attention.q = "layers.{i}.self_attn.q_proj"
    layers[i].attention.k = "layers.{i}.self_attn.k_proj"
    layers[i].attention.v = "layers.{i}.self_attn.v_proj"
    layers[i].ffn.down = "layers.{i}.mlp.down_proj"
  }
}
"""
MODEL = TINY.rstrip().removesuffix("}") + WEIGHTS
LORA = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj", "v_proj"]}


def folder(at: Path, config: dict, modules: dict[str, tuple[int, int, int]]) -> Path:
    """modules: rank, in and out of each."""
    at.mkdir(exist_ok=True)
    (at / "adapter_config.json").write_text(json.dumps(config))
    tensors = {}
    for name, (rank, width, rows) in modules.items():
        tensors[f"base_model.model.model.{name}.lora_A.weight"] = np.ones((rank, width), "float32")
        tensors[f"base_model.model.model.{name}.lora_B.weight"] = np.ones((rows, rank), "float32")
    save_file(tensors, at / "adapter_model.safetensors")
    return at


def q_and_v(layers: tuple[int, ...] = (0, 1), rank: int = 2) -> dict[str, tuple[int, int, int]]:
    return {f"layers.{n}.self_attn.{name}": (rank, 32, rows) for n in layers for name, rows in (("q_proj", 64), ("v_proj", 32))}


def run(tmp_path: Path, config: dict, modules: dict | None = None):
    (tmp_path / "m.specc").write_text(MODEL)
    made = folder(tmp_path / "ad", config, q_and_v() if modules is None else modules)
    return import_adapter(made, tmp_path / "m.specc", one_model(str(tmp_path / "m.specc")).model, tmp_path / "a.specc", "a")


def test_ranks_and_alphas_of_their_own(tmp_path: Path):
    config = LORA | {"rank_pattern": {"v_proj": 3, r"layers\.1\.self_attn\.q_proj": 4}, "alpha_pattern": {"v_proj": 9}}
    modules = q_and_v() | {f"layers.{n}.self_attn.v_proj": (3, 32, 32) for n in (0, 1)} | {"layers.1.self_attn.q_proj": (4, 32, 64)}
    text = run(tmp_path, config, modules).text
    assert "lora(rank: 2, alpha: 4, targets: [attention.q], layers: [0])" in text
    assert "lora(rank: 4, alpha: 4, targets: [attention.q], layers: [1])" in text
    assert "lora(rank: 3, alpha: 9, targets: [attention.v])" in text
    assert 'adapter a for "m.specc"' in text


def test_settings_are_taken_over(tmp_path: Path):
    text = run(tmp_path, LORA | {"use_rslora": True, "lora_dropout": 0.05, "layers_to_transform": [0, 1], "exclude_modules": ["k_proj"]}).text
    assert "rank_stabilised: true" in text and "dropout: 0.05" in text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bias", "all"), ("lora_bias", True), ("modules_to_save", ["lm_head"]), ("trainable_token_indices", [3]), ("layer_replication", [[0, 2]]),
        ("layers_pattern", "h"), ("init_lora_weights", "pissa"), ("init_lora_weights", "loftq"), ("use_qalora", True), ("use_bdlora", {"a": 1}),
        ("ensure_weight_tying", True), ("alora_invocation_tokens", [1]), ("arrow_config", {"a": 1}), ("peft_type", "LOHA"), ("r", 0), ("r", "2"),
        ("lora_alpha", -1), ("lora_alpha", True), ("use_rslora", "yes"), ("r", 3), ("target_modules", ["q_proj"]), ("target_modules", "(a+)+b"),
        ("exclude_modules", ["v_proj"]), ("layers_to_transform", [0]), ("rank_pattern", {"v_proj": 3}), ("alpha_pattern", {"v_proj": "x"}),
        ("use_dora", True),
    ],
)  # fmt: skip
def test_what_would_be_dropped_is_refused(tmp_path: Path, field: str, value):
    with pytest.raises(SpecError, match="ADP009|ADP008"):
        run(tmp_path, LORA | {field: value})


def test_what_is_not_known_is_named(tmp_path: Path):
    found = run(tmp_path, LORA | {"a_new_field": 7, "another": None, "target_modules": ["q_proj", "v_proj", "k_proj"], "task_type": "CAUSAL_LM"})
    assert [d.code for d in found.warnings] == ["ADP010", "ADP010"]
    assert "a_new_field" in found.warnings[0].message and "k_proj" in found.warnings[1].message


def test_every_field_that_peft_writes_has_its_place():
    """No field of the installed peft falls to the warning for unknown ones, and so none to silence."""
    peft = pytest.importorskip("peft")
    from specc.tools.importer.adapter.fields import MEANINGLESS, NEUTRAL, USED

    written = set()
    for config in (
        peft.LoraConfig(), peft.IA3Config(feedforward_modules=[], target_modules=[]), peft.PrefixTuningConfig(), peft.PromptTuningConfig(),
        peft.PromptEncoderConfig(),
    ):  # fmt: skip
        written |= config.to_dict().keys()
    assert written - USED - MEANINGLESS - NEUTRAL.keys() == set()
    assert not USED & MEANINGLESS and not USED & NEUTRAL.keys() and not MEANINGLESS & NEUTRAL.keys()


@pytest.mark.parametrize("modules", [{}, {"layers.0.self_attn.o_proj": (2, 64, 32)}, q_and_v((0, 1), 2) | {"layers.0.mlp.down_proj": (2, 47, 32)}])
def test_tensors_of_another_model_are_refused(tmp_path: Path, modules: dict):
    with pytest.raises(SpecError, match="ADP00[89]"):
        run(tmp_path, LORA | {"target_modules": ["q_proj", "v_proj", "o_proj", "down_proj"]}, modules)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a*)*", "a" * 400, "a**", ".*.*.*.*.*", "(", "(x|y){3}", "a+*"])
def test_patterns_that_take_long_are_refused(pattern: str):
    with pytest.raises(SpecError, match="ADP009"):
        safe(pattern)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from specc.faces.cli import main

    run(tmp_path, LORA)
    out = tmp_path / "sub" / "bot.specc"
    assert main(["import", str(tmp_path / "ad"), "--over", str(tmp_path / "m.specc"), "-o", str(out)]) == 0
    assert 'adapter bot for "../m.specc"' in out.read_text()
    assert main(["check", str(out)]) == 0
    assert "1 adapter checked, nothing wrong" in capsys.readouterr().out
    assert main(["weights", "convert", str(out), str(tmp_path / "ad"), "--to", "own", "-o", str(tmp_path / "own")]) == 0
    assert main(["weights", "convert", str(out), str(tmp_path / "own"), "--to", "published", "-o", str(tmp_path / "back")]) == 0
    from safetensors.numpy import load_file

    first, last = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("ad", "back"))
    assert first.keys() == last.keys() and all((first[name] == last[name]).all() for name in first)
    assert main(["import", str(tmp_path / "ad")]) == 2


ODD = (True, -1, 3, 10**30, float("1e308"), "", "(", [[]], ["q_proj", 3], {"": 1}, {"v_proj": None})
KINDS = {"LORA": ("r", "lora_alpha", "rank_pattern", "alpha_pattern", "use_dora", "lora_dropout", "target_modules", "exclude_modules", "layers_to_transform", "bias"),
         "IA3": ("peft_type", "feedforward_modules", "target_modules"),
         "PREFIX_TUNING": ("num_virtual_tokens", "num_layers", "token_dim", "num_attention_heads", "prefix_projection")}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_of_any_field_is_an_accident(tmp_path: Path, kind: str):
    """Each field at odd values: taken, or refused with a code."""
    (tmp_path / "m.specc").write_text(MODEL)
    base = one_model(str(tmp_path / "m.specc")).model
    made = folder(tmp_path / "ad", {}, q_and_v())
    plain = LORA | {"peft_type": kind, "num_virtual_tokens": 2, "feedforward_modules": []}
    for field in KINDS[kind]:
        for value in ODD:
            (made / "adapter_config.json").write_text(json.dumps(plain | {field: value}))
            try:
                import_adapter(made, tmp_path / "m.specc", base, tmp_path / "a.specc", "a")
            except SpecError as error:
                assert all(d.code.startswith(("ADP", "CFG", "VAL")) for d in error.diagnostics), (field, value, error)


@pytest.mark.parametrize(("field", "value"), [("num_layers", 3), ("num_attention_heads", 4), ("token_dim", 64), ("num_virtual_tokens", 4)])
def test_the_sizes_of_a_prefix_are_the_models(tmp_path: Path, field: str, value: int):
    (tmp_path / "m.specc").write_text(MODEL)
    made = tmp_path / "ad"
    made.mkdir()
    config = {"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 3, "num_layers": 2, "num_attention_heads": 2, "token_dim": 32}
    save_file({"prompt_embeddings": np.ones((3, 2 * 2 * 32), "float32")}, made / "adapter_model.safetensors")
    base = one_model(str(tmp_path / "m.specc")).model
    (made / "adapter_config.json").write_text(json.dumps(config))
    assert "prefix(length: 3)" in import_adapter(made, tmp_path / "m.specc", base, None, "a").text
    (made / "adapter_config.json").write_text(json.dumps(config | {field: value}))
    with pytest.raises(SpecError, match="ADP00[89]"):
        import_adapter(made, tmp_path / "m.specc", base, None, "a")
