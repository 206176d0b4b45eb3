"""Models with an encoder and a decoder: what changes in either of them is found, and said of the right one."""

from __future__ import annotations

import pytest

from specc.ir.fingerprint import fingerprint
from specc.tools.diff.reason import Difference, Level
from tests.tools.diff.test_fields import differ, resolved

TEXT = """\
model m {
  vocab = 64  dim = 16  context = 32
  embed = tokens() + learned_position()
  norm = rms(eps: 1e-5)  final_norm = norm  attention = attention(heads: 4, kv_heads: 2)  ffn = gated(hidden: 24, activation: silu)
  head = lm(tied: true)
  encoder { depth = 3  mask = bidirectional  position = relative_bias(buckets: 8, max_distance: 16, bidirectional: true)  block = pre_norm }
  decoder { depth = 2  mask = causal  position = none  block = pre_norm_cross  cross = attention }
}
"""
CHANGES = {
    "ffn = gated(hidden: 24, activation: relu)": "layers[i].ffn.activation",
    "norm = rms(eps: 1e-6)": "layers[i].norm.attention.eps",
    "attention = attention(heads: 4, kv_heads: 2, scale: 0.3)": "layers[i].attention.scale",
    "attention = attention(heads: 4, kv_heads: 2, softcap: 30)": "layers[i].attention.softcap",
    "final_norm = rms(eps: 1e-4)": "final_norm.eps",
    "embed = tokens(scale: 3) + learned_position()": "embed.tokens.scale",
}


def stated(text: str, stack: str) -> str:
    """The text with a statement more in one of its stacks."""
    return TEXT.replace(f"{stack} {{ ", f"{stack} {{ {text}  ")


def paths(found: Difference) -> list[str]:
    return [r.path for r in found.reasons if r.category == "numerics"]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize("text", CHANGES)
def test_a_change_is_found_in_its_stack(stack: str, text: str) -> None:
    found = differ(TEXT, stated(text, stack))
    assert found.level == Level.COMPUTES
    assert f"{stack}.{CHANGES[text]}" in paths(found) and all(path.startswith(f"{stack}.") for path in paths(found))
    reason = next(r for r in found.reasons if r.path == f"{stack}.{CHANGES[text]}")
    line = TEXT.splitlines().index(next(row for row in TEXT.splitlines() if row.strip().startswith(f"{stack} {{"))) + 1
    assert reason.new_at == f"probe.specc:{line}"
    assert reason.pointer.startswith(f"/stacks/{['encoder', 'decoder'].index(stack)}/")
    assert fingerprint(resolved(TEXT).model) != fingerprint(resolved(stated(text, stack)).model)


def test_parameters_have_the_keys_of_the_state_dict() -> None:
    found = differ(TEXT, stated("ffn = gated(hidden: 32, activation: silu)", "encoder"))
    named = {r.path for r in found.reasons if r.category == "state dict"}
    assert named == {"encoder.layers.{0-2}.ffn.gate.weight", "encoder.layers.{0-2}.ffn.up.weight", "encoder.layers.{0-2}.ffn.down.weight"}
    keys = resolved(TEXT).model.parameters()
    assert "encoder.layers.0.ffn.gate.weight" in keys
    fewer = differ(TEXT, TEXT.replace("depth = 2", "depth = 1"))
    assert fewer.level == Level.BREAKING
    gone = {r.path for r in fewer.reasons if r.change == "removed" and r.category == "state dict"}
    assert "decoder.layers.1.cross.q.weight" in gone and all(path in keys for path in gone)


def test_a_scheme_that_a_stack_shares_is_of_that_stack() -> None:
    found = differ(TEXT, TEXT.replace("buckets: 8", "buckets: 12"))
    assert "encoder.layers[i].position.buckets" in paths(found)
    assert "encoder.position.weight" in {r.path for r in found.reasons if r.category == "state dict"}


def test_an_untied_head_copies_the_table_that_both_read() -> None:
    found = differ(TEXT, TEXT.replace("lm(tied: true)", "lm(tied: false)"))
    assert found.level == Level.CONVERTIBLE
    assert [(rule.op, rule.target, rule.source) for rule in found.rules] == [("copy", "head.weight", "embed_tokens.weight")]


def test_tables_of_their_own_are_a_change() -> None:
    found = differ(TEXT, TEXT.replace("  head =", "  shared_tokens = false  head ="))
    assert found.level == Level.BREAKING and "shared_tokens" in paths(found)


def test_one_stack_more_is_breaking() -> None:
    single = "model m { vocab = 64  dim = 16  depth = 2  context = 32  mask = causal  block = pre_norm  norm = rms(eps: 1e-5)  position = rope\n"
    single += "  attention = attention(heads: 4, kv_heads: 2)  ffn = gated(hidden: 24, activation: silu)  head = lm(tied: true) }"
    for before, after in ((TEXT, single), (single, TEXT)):
        found = differ(before, after)
        assert found.level == Level.BREAKING
        assert {r.old for r in found.reasons if r.path == "stacks"} <= {"one stack", "encoder and decoder"} and "stacks" in paths(found)


def test_the_same_is_the_same() -> None:
    assert differ(TEXT, TEXT).level == Level.IDENTICAL
    assert differ(TEXT, "# a comment\n" + TEXT).level <= Level.RENAMED
