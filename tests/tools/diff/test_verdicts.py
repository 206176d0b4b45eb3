"""The verdict of realistic changes, and the reasons that are given for it."""

from __future__ import annotations

import pytest

from specc.tools.diff.reason import Level
from specc.tools.diff.report import text
from tests.tools.diff.changes import TEXT, Changes, difference

# what is changed, the verdict, and one reason: category, path, old, new
CASES: dict[str, tuple[Changes, Level, tuple]] = {
    "a comment": ([("model m {", "model m { # why")], Level.RENAMED, ("names", "comments", None, None)),
    "a doc comment": ([("## A model", "## The model")], Level.RENAMED, ("names", "doc", None, None)),
    "the model's name": ([("model m {", "model n {")], Level.RENAMED, ("names", "model", "m", "n")),
    "the block's name": ([("block own", "block mine"), ("= own", "= mine")], Level.RENAMED, ("names", "layers[i].block", "own", "mine")),
    "a local name": (
        [("h = ", "y = "), ("(h)", "(y)")],
        Level.RENAMED,
        ("names", "layers[i].block", "h = norm.first(x); x = x + attention(h)", "y = norm.first(x); x = x + attention(y)"),
    ),
    "a layer's label": ([("near", "close")], Level.RENAMED, ("names", "layers[0,2].label", "near", "close")),
    "the map's name": ([("weights hf", "weights hub")], Level.RENAMED, ("names", "weights hf", "hf", "hub")),
    "training": ([("  block     =", "  dropout = 0.1\n  block     =")], Level.UNCHANGED, ("training", "dropout", "0", "0.1")),
    "a check": ([("depth == 4", "depth <= 4")], Level.UNCHANGED, ("checks", "checks", None, "depth <= 4")),
    "a longer context": ([("context   = 32", "context = 64")], Level.UNCHANGED, ("limits", "context", "32", "64")),
    "the order of a sum": (
        [("x + attention(h)", "attention(h) + x")],
        Level.UNCHANGED,
        ("numerics", "layers[i].block", "x = x + attention(h)", "x = attention(h) + x"),
    ),
    "one more tensor name": ([('"wpe"', '"wpe" | "pos"')], Level.UNCHANGED, None),
    "one more ignored name": (
        [('["mask"]', '["mask", "bias"]')],
        Level.UNCHANGED,
        ("published", "weights hf: ignore", '"mask"', '"bias", "mask"'),
    ),
    "theta": ([("theta: 100", "theta: 500")], Level.COMPUTES, ("numerics", "layers[i].position.theta", "100", "500")),
    "eps": ([("eps: 1e-5", "eps: 1e-6")], Level.COMPUTES, ("numerics", "layers[i].norm.second.eps", "1e-5", "1e-6")),
    "the window of some layers": ([("sliding(4)", "sliding(5)")], Level.COMPUTES, ("numerics", "layers[0,2].mask.window", "4", "5")),
    "the order of layers": (
        [("[near, far]", "[far, near]")],
        Level.COMPUTES,
        ("numerics", "layers[1,3].mask", "causal", "sliding(window: 4)"),
    ),
    "where a norm stands": (
        [("x + ffn(norm.second(x))", "norm.second(x + ffn(x))")],
        Level.COMPUTES,
        ("numerics", "layers[i].block", "x = x + ffn(norm.second(x))", "x = norm.second(x + ffn(x))"),
    ),
    "norms that change places": (
        [("norm.first(x)", "norm.z(x)"), ("norm.second(x)", "norm.first(x)"), ("norm.z(x)", "norm.second(x)")],
        Level.COMPUTES,
        None,
    ),
    "a branch's factor": (
        [("x + ffn", "x + 0.5 * ffn")],
        Level.COMPUTES,
        ("numerics", "layers[i].block", "x = x + ffn(norm.second(x))", "x = x + 0.5 * ffn(norm.second(x))"),
    ),
    "the embedding's formula": (
        [("norm.embed(tokens() +", "norm.embed(2 * tokens() +")],
        Level.COMPUTES,
        ("numerics", "embed", "norm.embed(tokens() + learned_position())", "norm.embed(2 * tokens() + learned_position())"),
    ),
    "the order of fused parts": ([("[q, k, v]", "[q, v, k]")], Level.COMPUTES, None),
    "a square tensor no longer turned": ([('transpose("h.{i}.proj")', '"h.{i}.proj"')], Level.COMPUTES, None),
    "tensor names that change places": (
        [('"h.{i}.gate"', '"h.{i}.z"'), ('"h.{i}.up"', '"h.{i}.gate"'), ('"h.{i}.z"', '"h.{i}.up"')],
        Level.COMPUTES,
        None,
    ),
    "a part's label": (
        [("norm.first", "norm.one")],
        Level.CONVERTIBLE,
        ("state dict", "layers.{0-3}.first_norm.weight", "layers.{0-3}.first_norm.weight", "layers.{0-3}.one_norm.weight"),
    ),
    "an untied head": (
        [("tied: true", "tied: false"), ('"wte" | "/lm_head"', '"wte"'), ("    final_norm  ", '    head = "/lm_head"\n    final_norm  ')],
        Level.CONVERTIBLE,
        ("state dict", "head.tied", "true", "false"),
    ),
    "biases": (
        [("kv_heads: 2", "kv_heads: 2, bias: true")],
        Level.CONVERTIBLE,
        ("numerics", "layers[i].attention.bias", "[]", "[q, k, v, o]"),
    ),
    "a tensor's name": (
        [('"h.{i}.up"', '"h.{i}.w3"')],
        Level.CONVERTIBLE,
        ("published", "weights hf: layers.{0-3}.ffn.up.weight", '"h.{0-3}.up.weight"', '"h.{0-3}.w3.weight"'),
    ),
    "a name that is no longer read": ([('"wte" | "/lm_head"', '"wte"')], Level.CONVERTIBLE, None),
    "a root that is gone": ([('"model." | ""', '""')], Level.CONVERTIBLE, ("published", "weights hf: root", '"model."', "nothing")),
    "no map at all": ([(TEXT[TEXT.index("  weights hf") : -2], "")], Level.CONVERTIBLE, ("published", "weights hf", "hf", None)),
    "a tied head": ([("tied: true", "tied: false, bias: true")], Level.BREAKING, None),
    "depth": (
        [("depth     = 4", "depth = 3"), ("depth == 4", "depth == 3")],
        Level.BREAKING,
        ("state dict", "layers.{3}.ffn.up.weight".replace("{3}", "3"), "[16, 16]", None),
    ),
    "a longer table": (
        [("length: 32", "length: 64")],
        Level.BREAKING,
        ("state dict", "embed_learned_position.weight", "[32, 16]", "[64, 16]"),
    ),
    "no final norm": (
        [("final_norm = norm", "final_norm = none"), ('    final_norm               = "ln_f"\n', "")],
        Level.BREAKING,
        ("numerics", "final_norm", "layer(eps: 1e-5)", "none"),
    ),
    "renamed, and another theta": (
        [("norm.first", "norm.one"), ("theta: 100", "theta: 500")],
        Level.BREAKING,
        ("numerics", "layers[i].position.theta", "100", "500"),
    ),
}


@pytest.mark.parametrize(("changes", "level", "reason"), CASES.values(), ids=CASES)
def test_the_verdict(changes: Changes, level: Level, reason: tuple | None) -> None:
    found = difference(changes)
    assert found.level == level, text([found])
    assert found.level == max(r.level for r in found.reasons if r.level is not None) or found.level == Level.BREAKING
    said = [(r.category, r.path, r.old, r.new) for r in found.reasons]
    assert reason is None or reason in said, said
    assert bool(found.rules) <= (level == Level.CONVERTIBLE)


def test_layout_and_spelling_are_no_difference() -> None:
    found = difference([("theta: 100", "theta: 1e2"), ("  dim       = 16", "  dim=8+8"), ("[near, far]", "[near, far,]")])
    assert (found.level, found.reasons) == (Level.IDENTICAL, [])


def test_places_are_those_of_the_argument() -> None:
    found = difference([("sliding(4)", "sliding(5)"), ("  mask      = causal\n", "\n\n  mask = causal\n")])
    (reason,) = (r for r in found.reasons if r.path.endswith("window"))
    assert (reason.old_at, reason.new_at) == ("probe.specc:23", "probe.specc:25")
    assert reason.pointer == "/stacks/0/layers/0/mask/window"


def test_what_follows_is_said() -> None:
    found = difference([("kv_heads: 2", "kv_heads: 4")])
    said = {(r.category, r.path): (r.old, r.new) for r in found.reasons}
    assert said["cache", "layers[i]"] == ("key [B, 2, S, 4], value [B, 2, S, 4]", "key [B, 4, S, 4], value [B, 4, S, 4]")
    assert said["cache", "bytes per token (bf16)"] == ("128", "256")
    assert said["interface", "input past_key_values.{0-3}.key"] == (
        "float [batch, 2, past_sequence, 4]",
        "float [batch, 4, past_sequence, 4]",
    )
    assert said["interface", "output present.{0-3}.value"][1] == "float [batch, 4, total_sequence, 4]"
    assert said["counts", "parameters"][0] != said["counts", "parameters"][1]


def test_inputs_and_outputs_by_name() -> None:
    segments = difference([("tokens() +", "tokens() + segments(2) +"), (TEXT[TEXT.index("  weights hf") : -2], "")])
    assert ("input token_type_ids", None, "int64 [batch, sequence]") in [(r.path, r.old, r.new) for r in segments.reasons]
    hidden = difference([("lm(tied: true)", "hidden")])
    assert {("output logits", "removed"), ("output last_hidden_state", "added")} <= {(r.path, r.change) for r in hidden.reasons}


def test_experts_are_one_line() -> None:
    moe = "moe(experts: 4, top_k: 2, router: softmax, expert: mlp(hidden: {}, activation: relu))"
    drop = (TEXT[TEXT.index("  weights hf") : -2], "")
    base = TEXT.replace(*drop).replace("gated(hidden: 16, activation: silu)", moe.format(8))
    found = difference([("hidden: 8", "hidden: 12")], base)
    assert [r.path for r in found.reasons if r.category == "state dict"] == [
        "layers.{0-3}.ffn.experts.{0-3}.up.weight",
        "layers.{0-3}.ffn.experts.{0-3}.down.weight",
    ]
