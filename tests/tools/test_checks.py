"""What `checks` may say, and what specc says when it does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.diagnostics.table.example import layers, spec
from tests.diagnostics.checked import findings

HOLD = [
    "params == 7_248",
    "params == active_params",
    "params / active_params == 1",
    "dim % 8 == 0",
    "vocab % 64 == 0  dim == 16",
    "dim ** 2 - vocab // 2 + 1 == 225",
    "attention.head_dim % 4 == 0",
    "attention.heads / attention.kv_heads == 1",
    "attention.head_dim * attention.heads == dim",
    "ffn.hidden == 4 * dim",
    "ffn.activation == gelu",
    "attention.softcap == none",
    "attention.sinks == false",
    "attention.bias == []",
    "attention.qk_norm_over == head",
    "position.theta >= 10_000",
    "position.layout != interleaved",
    "norm.eps == 1e-5",
    "head.tied == true",
    "weights(dtype: bf16) + kv_cache(tokens: 32) <= 20KiB",
    "weights(dtype: fp32) == 4 * params",
    "kv_cache(tokens: context, dtype: fp16) == 2 * 2 * 16 * 2 * context",
    "flops(context: 32) < 20k",
    "min(dim, vocab) == 16",
]
FAIL = [
    ("dim % 32 == 0", "`dim % 32` is 16"),
    ("attention.head_dim % 16 == 0", "`attention.head_dim % 16` is 8 in layer 0"),
    ("ffn.activation == silu", "`ffn.activation` is gelu in layer 0"),
    ("attention.softcap == 50", "`attention.softcap` is none in layer 0"),
    ("position.theta == 500_000", "`position.theta` is 10_000 in layer 0"),
    ("head.tied == false", "`head.tied` is true"),
    ("params + vocab < 3_000", "`params + vocab` is 7_312"),
    ("weights(dtype: fp8) / 2 > 4k", "`weights(dtype: fp8) / 2` is 3_624"),
]


def check(text: str, folder: Path) -> list[str]:
    return [f"{found.code} {found.message}" for found in findings(text, folder)]


@pytest.mark.parametrize("text", HOLD)
def test_what_holds(text: str, tmp_path: Path) -> None:
    assert check(spec(f"checks {{ {text} }}"), tmp_path) == []


@pytest.mark.parametrize(("text", "told"), FAIL)
def test_what_does_not(text: str, told: str, tmp_path: Path) -> None:
    assert check(spec(f"checks {{ {text} }}"), tmp_path) == [f"CHK001 this check does not hold: {told}"]


def test_a_field_has_to_hold_in_every_layer_that_has_it(tmp_path: Path) -> None:
    def text(rule: str) -> str:
        kinds = "layer near { mask = sliding(8) }", "layer far { mask = causal }", "layer wide { mask = sliding(16) }"
        return layers(*kinds, f"checks {{ {rule} }}", layers="[near, far, wide, near]", depth="4")

    assert check(text("mask.window <= 16"), tmp_path) == []
    assert check(text("mask.window == 8"), tmp_path) == ["CHK001 this check does not hold: `mask.window` is 16 in layer 2"]
    assert check(text("mask.window % 16 == 0"), tmp_path) == ["CHK001 this check does not hold: `mask.window % 16` is 8 in layer 0"]
    assert [line[:6] for line in check(text("mask.size == 8"), tmp_path)] == ["NAM014"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("parms == 1", "NAM014"),
        ("attention.head == 1", "NAM014"),
        ("cross.heads == 1", "NAM014"),
        ("parms % 2 == 0", "NAM014"),
        ("cost(context: 1) == 1", "NAM014"),
        ("params == true", "TYP004"),
        ("attention.sinks < 3", "TYP004"),
        ("ffn.activation < gelu", "TYP004"),
        ("ffn.activation % 2 == 0", "TYP004"),
        ("flops(tokens: 1) == 1", "NAM002"),
        ("flops() == 1", "VAL002"),
        ("weights(dtype: fp31) == 1", "VAL009"),
        ("dim % 0 == 0", "VAL008"),
        ("architecture == 3", "CHK002"),
        ('architecture <= "base.specc"', "CHK002"),
        ('architecture == "none.specc"', "SYS001"),
        ('architecture == "base.specc"', "CHK002"),
        ('architecture == "base.specc#family"', "NAM008"),
        ('architecture == "base.specc#absent"', "NAM008"),
        ('architecture == "wrong.specc"', "NAM001"),
    ],
)
def test_what_cannot_be_asked(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "base.specc").write_text(spec() + spec().replace("model m", "model n") + "model family(config) { dim = 3 }")
    (tmp_path / "wrong.specc").write_text(spec(mask="casual"))
    assert [line[:6] for line in check(spec(f"checks {{ {text} }}"), tmp_path)] == [code]


def test_another_spec(tmp_path: Path) -> None:
    (tmp_path / "base.specc").write_text(spec().replace("model m", "model n"))
    (tmp_path / "two.specc").write_text(spec() + spec(depth="3").replace("model m", "model n"))

    def told(text: str, **fields: str) -> list[str]:
        return [f"{d.message}|{d.help}" for d in findings(spec(f"checks {{ {text} }}", **fields), tmp_path)]

    assert told('architecture == "base.specc"  layout == "base.specc"') == []
    assert told('architecture == "two.specc#m"  architecture != "two.specc#n"') == []
    turned = {"position": "rope(theta: 20_000)"}
    assert told('layout == "base.specc"', **turned) == []
    (one,) = told('architecture == "base.specc"', **turned)
    assert one.startswith("this check does not hold: `m` does not compute what `base.specc` does|")
    assert "position.theta 10_000 -> 20_000" in one and "checks" not in one.partition("|")[2]
    (one,) = told('layout == "base.specc"', ffn="mlp(hidden: 32, activation: gelu)")
    assert one.startswith("this check does not hold: `m` does not hold the tensors of `base.specc`|") and "hidden" in one
    assert told('architecture != "base.specc"')[0].startswith("this check does not hold: `m` has the architecture of `base.specc`")


def test_files_may_hold_checks_against_one_another(tmp_path: Path) -> None:
    (tmp_path / "other.specc").write_text(spec('checks { architecture == "example.specc" }'))
    assert check(spec('checks { architecture == "other.specc" }'), tmp_path) == []
