"""Lint rules: each at its edge, on the line that decides, once however many layers there are."""

from __future__ import annotations

import re

import pytest

from specc.diagnostics.finding import Diagnostic
from specc.diagnostics.table.example import layers, spec
from specc.tools.lint.rules import RULES
from tests.faces.check_shell import Shell, check  # noqa: F401  a fixture

YARN = "rope(theta: 10_000, scaling: yarn(factor: {0}, original: 16))"
MLA = "mla(heads: 2, kv_rank: 8, nope_dim: {0}, rope_dim: 8, value_dim: {1}, latent_norm: norm)"
LEARNED, PARTIAL = "tokens() + learned_position()", "rope(theta: 10_000, partial: 4)"
ODD = "layer odd { attention = attention(heads: 2, head_dim: 12) }"
LOCAL = ("layer local { mask = sliding(8) }", "layer global { mask = causal }")


@pytest.mark.parametrize(("code", "clean", "flagged"), [
    ("LNT010", spec(attention="attention(heads: 1, head_dim: 16)"), spec(attention="attention(heads: 1, head_dim: 20)")),
    ("LNT010", spec(attention=MLA.format(8, 8)), spec(attention=MLA.format(4, 8))),
    ("LNT010", spec(attention=MLA.format(8, 8)), spec(attention=MLA.format(8, 4))),
    ("LNT011", spec(dim="64", attention="attention(heads: 8)"), spec(dim="96", attention="attention(heads: 8)")),
    ("LNT012", spec(vocab="64"), spec(vocab="68")),
    ("LNT013", spec(position="none", embed=LEARNED), spec(position="alibi", embed="tokens() + sinusoidal_position()")),
    ("LNT014", spec(position=YARN.format(2)), spec(position=YARN.format(1.5))),
    ("LNT015", spec(context="6283", position="rope(theta: 10_000)"), spec(context="6284", position="rope(theta: 10_000)")),
    ("LNT015", spec(context="6284", mask="sliding(100)"), spec(context="6284", mask="sliding(6284)")),
    ("LNT015", spec(context="6284", position="rope(theta: 10_000, scaling: linear(factor: 2))"), spec(context="6284")),
    ("LNT015", spec(context="628", position=PARTIAL), spec(context="629", position=PARTIAL)),
    ("LNT016", spec(attention="attention(heads: 1, kv_heads: 1)"), spec(attention="attention(heads: 2, kv_heads: 1)")),
    ("LNT017", spec("checks { params < 1M }"), spec()),
    ("LNT018", spec(mask="sliding(31)"), spec(mask="sliding(32)")),
    ("LNT019", spec(norm="rms(eps: 1e-7)"), spec(norm="rms(eps: 1e-8)")),
    ("LNT020", spec(mask="causal", position="none"), spec(mask="bidirectional", position="none")),
    ("LNT020", spec(mask="bidirectional", position=None, embed="tokens() + learned_position()"), spec(mask="bidirectional", position=None)),
])  # fmt: skip
def test_a_rule(code: str, clean: str, flagged: str, check: Shell) -> None:  # noqa: F811
    check.write(m=clean)
    assert check.codes("m.specc", "--ignore", "LNT", "--select", code) == []
    check.write(m=flagged)
    assert check.codes("m.specc", "--ignore", "LNT", "--select", code) == [code]


@pytest.mark.parametrize(("text", "place"), [
    (spec(attention="attention(heads: 2, head_dim: 12)"), "head_dim: 12"),
    (spec(dim="24", attention="attention(heads: 2)"), "attention(heads: 2)"),
    (spec("mine = attention(heads: 2, head_dim: 12)", attention="mine"), "head_dim: 12"),
    (layers(ODD, "layer plain { mask = causal }", layers="repeat [odd, plain]"), "head_dim: 12"),
    (spec(dim="24", attention="attention(heads: 2)") + "model n extends m { depth = 4 }\n", "attention(heads: 2)"),
])  # fmt: skip
def test_where_it_points(text: str, place: str, check: Shell) -> None:  # noqa: F811
    check.write(m=text)
    _, _, err = check("m.specc")
    assert err.count("warning LNT010") == 1, "once, however many layers and models take it over"
    line, column = map(int, re.match(r"m\.specc:(\d+):(\d+):", err).groups())
    assert text.splitlines()[line - 1][column - 1 :].startswith(place)


def test_layers_are_looked_at_one_kind_at_a_time(check: Shell) -> None:  # noqa: F811
    check.write(m=layers(*LOCAL, layers="repeat [local, global]", context="8"))
    _, _, err = check("m.specc", "--select", "LNT018")
    assert err.count("LNT018") == 1
    assert "layer local { mask = sliding(8) }\n" in err


def test_families_and_models_with_errors_are_not_linted(check: Shell) -> None:  # noqa: F811
    from specc.diagnostics.table.example import family

    check.write(m=family(), n=spec(mask="casual", attention="attention(heads: 2, head_dim: 12)"))
    assert check.codes(".", "--select", "LNT") == ["NAM001"]


def test_every_rule_has_a_code_that_is_a_warning() -> None:
    for code in RULES:
        assert Diagnostic(code, "text", severity="warning").code == code
        assert callable(RULES[code].run())


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_rules_look_at_both_stacks(stack: str, check: Shell) -> None:  # noqa: F811
    text = """\
model m {
  vocab = 64  dim = 64  context = 32  position = none  norm = rms(eps: 1e-5)  final_norm = norm  head = lm(tied: true)
  embed = tokens() + learned_position()  attention = attention(heads: 4)  ffn = mlp(hidden: 64, activation: relu)
  encoder { depth = 2  mask = bidirectional  block = pre_norm }
  decoder { depth = 2  mask = causal  block = pre_norm_cross  cross = attention }
}
"""
    check.write(m=text)
    assert check("m.specc", "--strict")[0] == 0
    check.write(m=text.replace(f"{stack} {{", f"{stack} {{ attention = attention(heads: 4, head_dim: 12)"))
    status, _, err = check("m.specc", "--strict")
    place = 4 if stack == "encoder" else 5
    assert status == 1 and re.findall(r":(\d+):\d+: \w+ (LNT\d+)", err) == [(str(place), "LNT010")]
