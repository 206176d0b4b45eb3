"""Configs that others read wrongly: nulls, misspelt names, sizes that do not divide, lists of the wrong length, hostile fields."""

from __future__ import annotations

import ast
import json
import socket
from pathlib import Path

import pytest

from specc.diagnostics import SpecError
from specc.faces.cli import main
from specc.tools.importer.run import import_model
from tests.cases.values import imported, imported_text, kept, refusal

LLAMA = {
    "model_type": "llama", "vocab_size": 32, "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2,
    "intermediate_size": 96, "max_position_embeddings": 64,
}  # fmt: skip


def without(config: dict, *names: str) -> dict:
    return {name: value for name, value in config.items() if name not in names}


@pytest.mark.parametrize("given", [{"num_key_value_heads": None, "head_dim": None}, {}])
def test_null_is_absent(given: dict) -> None:
    """null-config-values, https://github.com/modular/modular/issues/6665"""
    attention = imported(without(LLAMA, "num_key_value_heads") | given).stack.layers[0].instance("attention").component
    assert (attention.kv_heads, attention.head_dim) == (8, 8)


def test_key_heads_that_do_not_divide() -> None:
    """kv-heads-not-dividing, https://github.com/keras-team/keras/pull/23081: both numbers are named"""
    ((code, message),) = refusal(LLAMA | {"hidden_size": 48, "num_attention_heads": 6, "num_key_value_heads": 4})
    assert code.startswith("SHP")
    assert "6" in message and "4" in message


def test_a_misspelt_field_is_named() -> None:
    """typo-accepted-silently, https://github.com/huggingface/transformers/pull/36534: in a config a warning"""
    (warning,) = kept(without(LLAMA, "num_key_value_heads") | {"num_key_value_head": 2})
    assert "num_key_value_head" in warning


def test_a_misspelt_field_of_a_spec(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """typo-accepted-silently, https://github.com/huggingface/transformers/pull/36534: in a spec an error, with the right name"""
    text = imported_text(LLAMA)
    assert "kv_heads: 2" in text
    path = tmp_path / "typo.specc"
    path.write_text(text.replace("kv_heads: 2", "kv_head: 2"))
    assert main(["check", str(path)]) == 1
    out = "".join(capsys.readouterr())
    assert "kv_head" in out
    assert "did you mean `kv_heads`" in out


def test_a_field_that_another_family_reads_is_refused() -> None:
    """typo-accepted-silently, https://github.com/huggingface/transformers/pull/36534"""
    ((code, message),) = refusal(LLAMA | {"final_logit_softcapping": 30.0})
    assert code == "CFG006"
    assert "final_logit_softcapping" in message


@pytest.mark.parametrize("kinds", [["full_attention"], ["full_attention"] * 5, ["fullattention"] * 4])
@pytest.mark.parametrize("kind", ["qwen2", "gemma2", "cohere2"])
def test_layer_types_of_the_wrong_length_or_spelling(kind: str, kinds: list[str]) -> None:
    """layer-types-length-and-vocabulary, https://github.com/Lightning-AI/litgpt/pull/1995"""
    assert refusal(LLAMA | {"model_type": kind, "sliding_window": 8, "layer_types": kinds})


def test_an_odd_rotary_width() -> None:
    """odd-rotary-dim, https://github.com/huggingface/transformers/pull/48652"""
    ((code, message),) = refusal(LLAMA | {"hidden_size": 20, "num_attention_heads": 4})
    assert code == "SHP002"
    assert "5 is odd" in message


# ---- hostile fields

NAMES = [
    "llama'); import os; os.system('true')#",
    "../x",
    "class",
    "lla\nma",
    "a" * 10_000,
    "",
    7,
    None,
    ["llama"],
    "llama.specc",
    "config",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_model_type_is_a_word_of_a_list(name: object) -> None:
    """model-type-code-injection, https://github.com/unslothai/unsloth-zoo/pull/1083"""
    ((code, _),) = refusal(LLAMA | {"model_type": name})
    assert code in ("CFG003", "CFG004")


@pytest.mark.parametrize("name", ["a'b", 'a"b', "a\nb", "import os", "class", "self", "../../x", "$(true)", "None", "é", "match", "123"])
def test_a_folder_s_name_does_not_reach_the_code(name: str, tmp_path: Path) -> None:
    """model-type-code-injection, https://github.com/unslothai/unsloth-zoo/pull/1083: names are made of word characters"""
    folder = tmp_path / Path(name).name
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    spec = tmp_path / "spec.specc"
    spec.write_text(import_model(folder).text)
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path / "out")]) == 0
    (made,) = (tmp_path / "out").iterdir()
    calls = {n.func.id for n in ast.walk(ast.parse(made.read_text())) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not calls & {"exec", "eval", "compile", "__import__", "open"}


def test_generated_code_imports_torch_and_little_else(tmp_path: Path) -> None:
    """model-type-code-injection, https://github.com/unslothai/unsloth-zoo/pull/1083: no os, no subprocess"""
    spec = tmp_path / "spec.specc"
    spec.write_text(imported_text(LLAMA))
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path)]) == 0
    tree = ast.parse((tmp_path / "imported.py").read_text())
    modules = {a.name.partition(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    modules |= {str(n.module).partition(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert modules <= {
        "__future__",
        "collections",
        "dataclasses",
        "json",
        "math",
        "mmap",
        "pathlib",
        "re",
        "safetensors",
        "struct",
        "torch",
        "typing",
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("_attn_implementation_internal", "attacker/kernel"),
        ("_attn_implementation", "attacker/kernel"),
        ("auto_map", {"AutoModelForCausalLM": "attacker/repo--modeling.Model"}),
        ("trust_remote_code", True),
        ("custom_pipelines", {"x": {"impl": "x.Y"}}),
    ],
)
def test_no_field_makes_the_import_fetch_or_run_code(field: str, value: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """config-remote-code-field, https://github.com/pydantic/pydantic-ai/pull/6310"""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a config is data")

    monkeypatch.setattr(socket, "socket", forbidden)
    monkeypatch.setattr("builtins.exec", forbidden)
    assert imported_text(LLAMA | {field: value}) == imported_text(LLAMA)


def test_custom_code_is_named() -> None:
    """config-remote-code-field, https://github.com/pydantic/pydantic-ai/pull/6310"""
    (warning,) = kept(LLAMA | {"auto_map": {"AutoModelForCausalLM": "modeling.Model"}})
    assert "code of its own" in warning


def test_quantised_checkpoints_are_refused() -> None:
    """moe-checkpoint-layouts, https://github.com/EfficientMoE/MoE-Infinity/pull/108: weights that are no numbers are not guessed at"""
    ((code, _),) = refusal(LLAMA | {"quantization_config": {"quant_method": "fp8"}})
    assert code == "CFG005"


# ---- heads


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("LlamaForCausalLMEagle3", "VAL006"),
        ("LlamaForQuestionAnswering", "VAL006"),
        ("GPT2DoubleHeadsModel", "CFG014"),
        ("T5EncoderModel", "CFG014"),
        ("something else", "CFG014"),
    ],
)
def test_a_class_with_another_head_is_refused(name: str, code: str) -> None:
    """expert-keys-missing-only-warns, https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/4706: nothing is left to chance"""
    ((found, _),) = refusal(LLAMA | {"architectures": [name]})
    assert found == code


def test_two_classes_are_refused() -> None:
    with pytest.raises(SpecError, match="CFG014"):
        imported_text(LLAMA | {"architectures": ["LlamaForCausalLM", "LlamaModel"]})
