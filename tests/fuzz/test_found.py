"""What random specs have found, each as the smallest spec that showed it."""

from __future__ import annotations

import pytest

from specc.diagnostics.finding import SpecError
from tests.components.probe import picture, spec
from tests.fuzz.compare import Feed, disagreements
from tests.harness import model_of

FEED = Feed(seed=1, length=9, padding=3, hole=5, pieces=(4, 1, 4))
MOE = "moe(experts: {}, top_k: 2, expert: mlp(hidden: 6, activation: relu), router: {})"


OTHER_WIDTH = {"attention.two": "attention(heads: 3, head_dim: 8)"}


def block(*lines: str, **fields: str) -> str:
    return f"block own(x) {{ {'  '.join(lines)} }}\n" + spec(block="own", final_norm="norm", **fields)


PARTED = {
    # the second attention of a layer took over the first one's cache
    "two attentions in one layer": block("x = x + attention.one(norm.a(x))", "x = x + attention.two(norm.b(x))"),
    "one attention called twice": block("x = x + attention(norm.a(x))", "x = x + attention(norm.b(x))"),
    "two attentions here, one there": "block twice(x) { x = x + attention.one(norm.a(x))  x = x + attention.two(norm.b(x)) }\n"
    + spec("layer p { block = twice }  layer q { block = pre_norm }  layers = repeat [p, q]", block=None, final_norm="norm"),
    # the second attention of a layer was given the first one's angles
    "two head widths under rope": block("x = x + attention.one(norm.a(x))", "x = x + attention.two(norm.b(x))", **OTHER_WIDTH),
    "two head widths under rope in some layers": "block twice(x) { x = x + attention.one(norm.a(x))  x = x + attention.two(norm.b(x)) }\n"
    + spec("layer p { position = none }  layer q { }  layers = repeat [p, q]", block="twice", final_norm="norm", **OTHER_WIDTH),
    # a table that layers share was looked up by the number of the first attention's heads
    "two head counts under one table": block(
        "x = x + attention.one(norm.a(x))",
        "x = x + attention.two(norm.b(x))",
        **{"attention.two": "attention(heads: 2, kv_heads: 1, head_dim: 6)"},
        position="stored_rope(length: 16, layout: half)",
    ),
    "two head widths under tables of their own": block(
        "x = x + attention.one(norm.a(x))",
        "x = x + attention.two(norm.b(x))",
        **OTHER_WIDTH,
        position="stored_rope(length: 16, layout: half)",
    ),
    # a sum of itself and one long term was split into itself and that term, for ever
    "a term too long for a line": block(
        "h = norm.n0(x)",
        "x = x + 0.5 * norm.n2(attention.second(norm.n1(h)))",
        "x = x + attention(norm.n3(x))",
        position="none",
        mask="bidirectional",
        attention="attention(heads: 2, head_dim: 4, temperature: logarithmic(scale: 0.5, every: 3))",
    ),
    # a router's class named numbers that only the class around it was given
    "mixtures of several sizes": spec(
        f"layer p {{ ffn = {MOE.format(3, 'sigmoid')} }}  layer q {{ ffn = {MOE.format(5, 'sigmoid')} }}  layers = repeat [p, q]", ffn=None
    ),
    "mixtures of several sizes in groups": spec(
        f"layer p {{ ffn = {MOE.format(4, 'softmax(groups: 2, top_groups: 1)')} }}"
        f"  layer q {{ ffn = {MOE.format(6, 'softmax(groups: 2, top_groups: 1)')} }}  layers = repeat [p, q]",
        ffn=None,
    ),
    # ONNX Runtime's Sigmoid is exactly 0 below -18: none of the experts had a weight, and they were divided by their sum
    "scores so small that they are all but 0": "block own(x) { x = x + ffn(x) }\n"
    + spec(
        block="own",
        final_norm="norm",
        embed="tokens(scale: 20)",
        ffn="moe(experts: 2, top_k: 1, expert: mlp(hidden: 6, activation: relu), router: sigmoid(normalize: true))",
    ),
    # a layer of an image model without a bias asked for the mask that only the others have
    "a bias in some layers of an image model": picture(
        "layer p { position = alibi }  layer q { attention = attention(heads: 2, head_dim: 4, softcap: 5) }  layers = repeat [q, p]"
    ),
    # three values one after the other, on a line that is too long for them
    "many tokens in front of the patches": picture(
        embed="insert(registers(2), at: 2, into: concat(class_token(), distillation_token(), 0.5 * project(patches(width: 6), bias: true)) + learned_position())"
    ),
    # a table that layers share and one that a layer holds were classes of one name
    "a shared table beside one of another size": picture(
        "layer p { }  layer q { position = grid_bias(grid: [3, 4]) }  layers = repeat [q, p]", position="grid_bias(shared: true)"
    ),
    # the class of the decoder's scheme had the name of the encoder's, and took its place
    "two stacks of different widths": spec(
        "encoder { depth = 1  dim = 10  mask = bidirectional  block = pre_norm }"
        "  decoder { depth = 1  mask = causal  block = pre_norm_cross  cross = attention(heads: 1, head_dim: 4) }",
        position="transformer_xl(furthest: 40)",
        attention="attention(heads: 1, head_dim: 4)",
        norm="layer(eps: 1e-5, weight: false)",
        shared_tokens="false",
        embed="tokens()",
        depth=None,
        mask=None,
        block=None,
    ),
}
REFUSED = {
    # each was taken, and ended in a division by zero or in an index out of range
    "the best two of a group of one": (spec(ffn=MOE.format(4, "softmax(groups: 4, top_groups: 2, group_score: top_2_sum)")), "SHP008"),
    "dynamic scaling of a single pair": (spec(position="rope(partial: 2, scaling: dynamic(factor: 2, original: 8))"), "SHP002"),
    "a yarn over one pace": (spec(position="rope(theta: 1, scaling: yarn(factor: 2, original: 8))"), "VAL001"),
    "two frequencies to space out of one": (spec(embed="tokens() + project(sinusoidal_position(width: 2, inclusive: true))"), "SHP002"),
}


@pytest.mark.parametrize("name", PARTED)
def test_both_back_ends_compute_the_same(name: str) -> None:
    assert disagreements(PARTED[name], FEED) == []


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    text, code = REFUSED[name]
    with pytest.raises(SpecError) as caught:
        model_of(text)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_experts_that_choose_among_equal_tokens() -> None:
    """torch's topk takes any of equal ones, and ONNX Runtime's the first."""
    text = """block own(x) { x = x + attention(norm.n0(x)) + ffn(norm.n1(x)) }
    model fuzz {
      final_norm = norm  vocab = 19  dim = 8  depth = 1  context = 24  position = none  mask = causal  norm = rms(eps: 1e-5)
      attention = attention(heads: 1, head_dim: 4)  block = own  head = hidden
      ffn = moe(experts: 2, top_k: 1, expert: mlp(hidden: 8, activation: relu), router: expert_choice)
    }"""
    assert disagreements(text, Feed(seed=16, length=2, padding=0, hole=None, pieces=(2,))) == []


def test_a_norm_after_a_gate_that_is_all_but_shut() -> None:
    """ONNX Runtime's Sigmoid is off by 1e-7, and the norm makes that as large as the gate is small."""
    text = """model fuzz {
      vocab = 19  dim = 12  depth = 1  context = 24  embed = norm.embed(tokens())  position = none  mask = causal  norm = layer(eps: 1e-5, offset: 1)
      attention = attention(heads: 1, head_dim: 4, qk_norm: rms(eps: 0.001), gate: head)  ffn = mlp(hidden: 8, activation: relu)
      block = sandwich_norm  head = hidden
    }"""
    assert disagreements(text, Feed(seed=0, length=2, padding=0, hole=None, pieces=(2,))) == []
