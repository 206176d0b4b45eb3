"""What lies between the components: blocks, layouts, instances, inputs. Each variant moves the oracle, and both back ends agree with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from specc.resources import SPECS
from specc.source import Source
from specc.syntax import tree
from specc.syntax.parser import parse
from tests.components.probe import Draw, spec
from tests.harness import draw, inputs_of, model_of, run_onnx, run_torch
from tests.oracle.run import run
from tests.tolerance import TOLERANCE, VISIBLE, distance

PRELUDE = SPECS / "std" / "blocks.specc"
BLOCKS = [item for item in parse(Source("blocks.specc", PRELUDE.read_text("utf-8"))).items if isinstance(item, tree.Block)]
PRESETS = [item.name for item in BLOCKS if len(item.parameters) == 1]  # a decoder's are held against published models (tests/reference)


def _block(body: str) -> str:
    return f"block own(x) {{ {body} }}\n" + spec(block="own", final_norm="norm")


def _turns(first: str, second: str, **fields: object) -> tuple[str, str]:
    """Two kinds of layer in turn, and the other way round."""
    layers = f"layer p {{ {first} }}  layer q {{ {second} }}  layers = repeat"
    return spec(f"{layers} [p, q]", depth=4, **fields), spec(f"{layers} [q, p]", depth=4, **fields)


def _reading(
    first: str, second: str, extra: str = "", depth: int = 4, attention: str = "", other: str = "", of_reader: str = "", others: str = "", **fields: object
) -> tuple[str, str]:
    """Layers that read the keys and values of earlier ones: two orders, two attentions, or two kinds of such layers."""
    attention = attention or "attention(heads: 4, kv_heads: 2, head_dim: 6)"

    def made(order: str, attention: str, of_reader: str) -> str:
        sections = f"layer own {{}} layer reader {{ kv_from = own {of_reader} }} {extra if 'other' in order else ''}"
        return spec(f"{sections} layers = {order}", depth=depth, attention=attention, **fields)

    return made(first, attention, of_reader), made(second, other or attention, others or of_reader)


# name: a spec, and one that differs from it in what the name says
PAIRS = {
    "scaled branches": (
        _block("x = x + 0.22 * attention(norm.attention(x))  x = x + 0.5 * ffn(norm.ffn(x))"),
        _block("x = x + 0.25 * attention(norm.attention(x))  x = x + 0.5 * ffn(norm.ffn(x))"),
    ),
    "a name bound twice": (
        _block("h = norm.attention(x)  x = x + attention(h)  h = norm.ffn(x)  x = x + ffn(h) + 0.5 * h"),
        _block("h = norm.attention(x)  x = x + attention(h)  x = x + ffn(h) + 0.5 * h"),
    ),
    "a sum of three": (_block("h = norm(x)  x = x + attention(h) + ffn(h)"), _block("h = norm(x)  x = 2 * x + attention(h) + ffn(h)")),
    "one instance in two places": (
        _block("x = x + attention(norm.shared(x))  x = x + ffn(norm.shared(x))"),
        _block("x = x + attention(norm.one(x))  x = x + ffn(norm.two(x))"),
    ),
    "two attentions": (
        _block("x = x + attention.first(norm.a(x))  x = x + attention.second(norm.b(x))"),
        _block("x = x + attention.second(norm.a(x))  x = x + attention.first(norm.b(x))"),
    ),
    "the final norm": (spec(), spec(final_norm="none")),
    "a final norm of its own": (spec(final_norm="rms(eps: 1e-5)"), spec(final_norm="layer(eps: 1e-5)")),
    "depth": (spec(depth=1), spec(depth=3)),
    "width": (spec(dim=16), spec(dim=20)),
    "masks": _turns("mask = sliding(3)", "mask = causal", mask=None),
    "shared weights": (
        spec("layer one {} layers = [4 * same(one)]", depth=4),
        spec("layer one {} layers = [2 * same(one), 2 * same(one, 1)]", depth=4),
    ),
    "the order of shared weights": (
        spec("layer p { ffn = mlp(hidden: 12, activation: relu) } layer q {} layers = [same(p), q, same(q), same(p), same(q)]", depth=5),
        spec("layer p { ffn = mlp(hidden: 12, activation: relu) } layer q {} layers = [same(p), q, same(q), same(q), same(p)]", depth=5),
    ),
    "keys and values of an earlier layer": _reading("[own, reader, own, reader]", "[own, reader, own, own]"),
    "whose keys and values": _reading("[own, own, reader, own, reader]", "[own, other, reader, other, reader]", "layer other {}", depth=5),
    "queries alone are normalised": _reading(
        *["repeat [own, reader]"] * 2,
        attention="attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: rms(eps: 1e-5), clip: 1.5, bias: true, gate: head)",
        other="attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: rms(eps: 1e-5), qk_norm_at: after_position, clip: 1.5, bias: true, gate: head)",
    ),
    "queries alone are normalised, head by head": _reading(
        *["repeat [own, reader]"] * 2,
        attention="attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: rms(eps: 1e-5), qk_norm_over: each_head, qk_norm_at: after_position)",
        other="attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: rms(eps: 1e-5), qk_norm_over: width, qk_norm_at: after_position, softcap: 2)",
    ),
    "a window over shared keys, and a temperature": _reading(
        *["repeat [own, reader]"] * 2,
        of_reader="mask = sliding(3)  attention = attention(heads: 6, kv_heads: 2, head_dim: 6, temperature: logarithmic(scale: 0.8, every: 3))",
        position="alibi",
        others="mask = sliding(2)  attention = attention(heads: 6, kv_heads: 2, head_dim: 6, temperature: logarithmic(scale: 0.8, every: 3))",
    ),
    "masks of both directions": _turns("mask = bidirectional", "mask = causal", mask=None),
    "positions": _turns("position = rope(theta: 50)", "position = none", position=None),
    "feed-forward networks": _turns("ffn = mlp(hidden: 12, activation: relu)", "ffn = gated(hidden: 8, activation: silu)", ffn=None),
    "attentions": _turns(
        "attention = attention(heads: 2, kv_heads: 1, head_dim: 8)",
        "attention = attention(heads: 6, kv_heads: 3, head_dim: 4, softcap: 3)",
        attention=None,
    ),
    "norms": _turns("norm = layer(eps: 1e-5)", "norm = rms(eps: 1e-5)", norm=None, final_norm="none"),
    "instances left out": _turns("norm.after_attention = none", "norm.after_ffn = none", block="sandwich_norm"),
    "blocks": _turns("block = pre_norm", "block = post_norm", block=None, final_norm="norm"),
    "a longer turn": (
        spec("layer p { mask = sliding(3) }  layer q { mask = causal }  layers = repeat [p, q]", depth=4, mask=None),
        spec("layer p { mask = sliding(3) }  layer q { mask = causal }  layers = repeat [2 * p, q]", depth=4, mask=None),
    ),
    "the index of a layer": (
        spec(attention="attention(heads: 4, kv_heads: 2, head_dim: 6, scale: 0.5 / (layer.index + 1))"),
        spec(attention="attention(heads: 4, kv_heads: 2, head_dim: 6, scale: 0.5 / (layer.index + 2))"),
    ),
    "everything an embedding may hold": (
        spec(embed="norm.embed(project(tokens(width: 8, scale: 2)) + 0.5 * sinusoidal_position() + learned_position() + segments(2))"),
        spec(embed="norm.embed(project(tokens(width: 8, scale: 2)) + 0.25 * sinusoidal_position() + learned_position() + segments(2))"),
    ),
    "a norm inside the embedding": (
        spec(embed="project(norm.embed(tokens(width: 8)), bias: true)"),
        spec(embed="project(tokens(width: 8), bias: true)"),
    ),
}
TEXTS = {f"{name}-{side}": text for name, pair in PAIRS.items() for side, text in zip(("one", "other"), pair, strict=True)}
GAINED = "scaled_pre_norm"  # the one that calls a field which a model has only where it says so
SPECS = {name: spec(block=name, gain="layer_scale()" if name == GAINED else None) for name in PRESETS}
TEXTS |= SPECS
RUNS = {"pytorch": run_torch, "onnx": run_onnx}


@pytest.mark.parametrize("name", PAIRS)
def test_the_wiring_moves_the_oracle(name: str):
    one, other = (_oracle(text, padded=True) for text in PAIRS[name])
    moved = max(distance(other[output], one[output]) for output in one)
    assert moved > VISIBLE * TOLERANCE["float32"]


@pytest.mark.parametrize("preset", PRESETS)
def test_no_preset_is_another_one(preset: str):
    for other in PRESETS:
        if other != preset:
            one, two = (_oracle(SPECS[name], padded=True)["last_hidden_state"] for name in (preset, other))
            assert distance(two, one) > VISIBLE * TOLERANCE["float32"]


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("backend", RUNS)
@pytest.mark.parametrize("name", TEXTS)
def test_the_back_end_equals_the_oracle(name: str, backend: str, padded: bool):
    model = model_of(TEXTS[name])
    inputs = inputs_of(model, padded)
    if backend == "pytorch" and not padded:
        del inputs["attention_mask"]  # without one every token is real
    got = RUNS[backend](model, draw(model), inputs)
    for output, want in _oracle(TEXTS[name], padded).items():
        assert distance(got[output], want) <= TOLERANCE["float32"]


@pytest.mark.parametrize("backend", RUNS)
@pytest.mark.parametrize("head", ["hidden", "lm(tied: true)", "classify(3, pool: last)", "pooled(mean)"])
@pytest.mark.parametrize("mask", ["causal", "bidirectional", "sliding(3)"])
@pytest.mark.parametrize(
    "change", [lambda ids, mask: (ids[:1, :1], mask[:1, :1]), lambda ids, mask: (ids[1:, :5], mask[1:, :5])], ids=["one token", "one row"]
)
def test_other_sizes_of_input(backend: str, head: str, mask: str, change: Callable):
    """Nothing in a back end may depend on two rows or on twelve tokens."""
    model = model_of(spec(head=head, mask=mask))
    whole = inputs_of(model)
    ids, real = change(whole["input_ids"], whole["attention_mask"])
    inputs = {"input_ids": ids, "attention_mask": real}
    weights = draw(model)
    got = RUNS[backend](model, weights, inputs)
    for output, want in run(model, weights, inputs).items():
        assert distance(got[output], want) <= TOLERANCE["float32"]


_known: dict[tuple[str, bool], dict] = {}


def _oracle(text: str, padded: bool) -> dict:
    if (text, padded) not in _known:
        model = model_of(text)
        _known[text, padded] = run(model, draw(model, Draw()), inputs_of(model, padded))
    return _known[text, padded]
