"""A conversion's rules are enough: the converted state dict fits the new model, and the numbers are the old ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from specc.tools.diff.models import compare
from specc.tools.diff.reason import Level, Rule
from tests.components.probe import Draw, spec
from tests.contract.probes import expected
from tests.harness import model_of
from tests.oracle.run import run
from tests.tools.diff.changes import TEXT, changed
from tests.tools.diff.test_fields import resolved

PLAIN = TEXT.replace(TEXT[TEXT.index("  weights hf") : -2], "")
MOE = "moe(experts: 4, top_k: 2, router: {}, expert: mlp(hidden: 8, activation: relu{}))"
PAIRS = {
    "labels": (PLAIN, changed([("norm.first", "norm.one"), ("norm.embed", "norm.start")], PLAIN)),
    "labels that hand on their names": (PLAIN, changed([("norm.second", "norm.third"), ("norm.first", "norm.second")], PLAIN)),
    "an untied head": (PLAIN, changed([("tied: true", "tied: false")], PLAIN)),
    "an untied mlm head": tuple(
        spec(mask="bidirectional", head=f"mlm(tied: {t}, activation: gelu, norm: rms(eps: 1e-5))") for t in ("true", "false")
    ),
    "biases of attention": (PLAIN, changed([("kv_heads: 2", "kv_heads: 2, bias: [k, o]")], PLAIN)),
    "biases of everything": (
        spec(),
        spec(attention="attention(heads: 4, kv_heads: 2, head_dim: 6, bias: true)", ffn="mlp(hidden: 20, activation: relu, bias: true)"),
    ),
    "norms without a weight": tuple(spec(norm=f"layer(eps: 1e-5, weight: {w}, bias: {w})") for w in ("false", "true")),
    "biases of experts": (spec(ffn=MOE.format("softmax", "")), spec(ffn=MOE.format("softmax(bias: true)", ", bias: true"))),
    "a correction of the choice": tuple(spec(ffn=MOE.format(f"sigmoid(bias_correction: {c})", "")) for c in ("false", "true")),
    "a pooler that goes": (spec(mask="bidirectional", head="pooled(tanh_first)"), spec(mask="bidirectional", head="hidden")),
}


def spelt_out(key: str) -> list[str]:
    """`layers.{0-1,3}.x` as its three keys."""
    found = re.search(r"\{([\d,-]+)\}", key)
    if found is None:
        return [key]
    bounds = [piece.split("-") for piece in found[1].split(",")]
    numbers = [n for b in bounds for n in range(int(b[0]), int(b[-1]) + 1)]
    return [inner for n in numbers for inner in spelt_out(f"{key[: found.start()]}{n}{key[found.end() :]}")]


def converted(weights: dict[str, np.ndarray], rules: list[Rule], shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    moved = {source for rule in rules if rule.op == "rename" for source in spelt_out(str(rule.source))}
    dropped = {key for rule in rules if rule.op == "drop" for key in spelt_out(rule.target)}
    found = {key: value for key, value in weights.items() if key not in moved | dropped}
    for rule in rules:
        targets = [] if rule.op == "drop" else spelt_out(rule.target)
        sources = spelt_out(str(rule.source)) if rule.op in ("rename", "copy") else []
        for number, key in enumerate(targets):
            found[key] = weights[sources[number]] if sources else np.full(shapes[key], float(rule.op == "ones"), np.float32)
    return found


@pytest.mark.parametrize(("before", "after"), PAIRS.values(), ids=PAIRS)
def test_the_numbers_are_kept(before: str, after: str) -> None:
    found = compare(resolved(before), resolved(after))
    assert found.level == Level.CONVERTIBLE
    model, weights, inputs, want = expected(before, Draw())
    shapes = {key: parameter.shape for key, parameter in model_of(after).parameters().items()}
    made = converted(weights, found.rules, shapes)
    assert {key: value.shape for key, value in made.items()} == shapes
    got = run(model_of(after), made, inputs)
    for name, value in got.items():
        np.testing.assert_array_equal(value, want[name])
