"""Attention with linear biases (Press et al., 2021, section 3): word for word, and the authors' rule for any number of heads."""

from __future__ import annotations

from tests.components.probe import Probe, spec


def _heads(heads: int, rest: str = "") -> str:
    return spec(position=f"alibi({rest})", attention=f"attention(heads: {heads}, kv_heads: {heads // 2}, head_dim: 6)")


PROBES = {
    "bias_max": (
        Probe(_heads(4), _heads(4, "bias_max: 4")),
        Probe(_heads(6), _heads(6, "bias_max: 4")),
        Probe(
            spec(position="alibi", mask="sliding(3)"),
            spec(position="alibi(bias_max: 3)", mask="sliding(3)"),
        ),
        Probe(
            spec(position="alibi", mask="bidirectional"),
            spec(position="alibi(bias_max: 5)", mask="bidirectional"),
        ),
        Probe(
            spec(position="alibi", attention="attention(heads: 4, kv_heads: 2, head_dim: 6, softcap: 2)"),
            spec(position="alibi(bias_max: 4)", attention="attention(heads: 4, kv_heads: 2, head_dim: 6, softcap: 2)"),
        ),
    ),
}


def _slopes(heads: int, bias_max: float) -> list[float]:
    """The authors' recursion: a power of two is a geometric sequence, any other number borrows from the next power."""
    if heads & (heads - 1) == 0:
        start = 2 ** (-bias_max / heads)
        return [start ** (n + 1) for n in range(heads)]
    below = 1
    while below * 2 < heads:
        below *= 2
    return _slopes(below, bias_max) + _slopes(2 * below, bias_max)[0::2][: heads - below]


def bias(c, head: int, heads: int, query: int, key: int) -> float:
    return -_slopes(heads, c.bias_max)[head] * abs(query - key)
