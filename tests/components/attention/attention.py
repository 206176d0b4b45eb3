"""Scaled dot-product attention, query by query (Vaswani et al., 2017, section 3.2); shared keys as in Ainslie et al., 2023, 2.2.

Clipping stands in OLMo's and OLMoE's published code: after the norm, before the position scheme. Sinks stand in gpt-oss's: one
more score in the softmax, which no value belongs to.
"""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import normalise
from tests.oracle.weights import linear


def _with(heads: int = 4, kv_heads: int = 2, head_dim: int = 6, scale: object = 0.5, rest: str = "", **fields: object) -> str:
    """scale is stated: by default it follows head_dim."""
    return spec(
        attention=f"attention(heads: {heads}, kv_heads: {kv_heads}, head_dim: {head_dim}, scale: {scale}{rest and ', '}{rest})", **fields
    )


def _qk(rest: str) -> str:
    return _with(rest=f"qk_norm: {rest}")


_EACH, _WIDTH = ", qk_norm_over: each_head", ", qk_norm_over: width"
_COLUMNS = "temperature: logarithmic(scale: 0.8, every: 3, first: 1, of: columns)"
PROBES = {
    "heads": (Probe(_with(heads=4), _with(heads=2)), Probe(_with(heads=4, kv_heads=1), _with(heads=3, kv_heads=1))),
    "kv_heads": (Probe(_with(kv_heads=2), _with(kv_heads=4)), Probe(_with(kv_heads=2), _with(kv_heads=1))),
    "head_dim": (Probe(_with(head_dim=6), _with(head_dim=4)), Probe(_with(head_dim=4), _with(head_dim=8))),
    "bias": tuple(Probe(_with(), _with(rest=f"bias: [{role}]")) for role in "qkvo")
    + (
        Probe(_with(), _with(rest="bias: true")),
        Probe(_with(rest="gate: channel"), _with(rest="gate: channel, bias: [gate]")),
        Probe(_with(rest="gate: head, bias: [q]"), _with(rest="gate: head, bias: [q, gate]")),
        Probe(_with(rest="bias: [q, v]"), _with(rest="bias: [q, k, v]")),
        Probe(_with(position="none", rest="bias: [q]"), _with(position="none", rest="bias: [q, v, o]")),
    ),
    "scale": (
        Probe(_with(scale=0.5), _with(scale=0.25)),
        Probe(_with(scale="head_dim ** -0.5"), _with(scale=1)),
        Probe(_with(scale=0.5, mask="bidirectional", position="none"), _with(scale=0.25, mask="bidirectional", position="none")),
        Probe(_with(scale=0.5, rest="softcap: 2"), _with(scale=0.25, rest="softcap: 2")),
    ),
    "softcap": (
        Probe(_with(), _with(rest="softcap: 1.5")),
        Probe(_with(rest="softcap: 3"), _with(rest="softcap: 1.5")),
        Probe(_with(rest="softcap: 3", mask="sliding(4)"), _with(rest="softcap: 1.5", mask="sliding(4)")),
        Probe(_with(rest="softcap: 3", mask="bidirectional"), _with(rest="softcap: 1.5", mask="bidirectional")),
    ),
    "clip": (
        Probe(_with(), _with(rest="clip: 0.8")),
        Probe(_with(rest="clip: 0.8, bias: true"), _with(rest="clip: 0.5, bias: true")),
        Probe(_qk("rms(eps: 1e-5), clip: 0.5"), _qk("rms(eps: 1e-5), clip: 0.8")),
        Probe(_with(rest="clip: 0.8, softcap: 2", mask="bidirectional"), _with(rest="clip: 0.4, softcap: 2", mask="bidirectional")),
    ),
    "qk_norm_at": tuple(
        Probe(_qk(f"{norm}{over}{more}"), _qk(f"{norm}{over}, qk_norm_at: after_position{more}"))
        for norm, over, more in (
            ("rms(eps: 1e-5)", "", ""),
            ("layer(eps: 1e-5)", _EACH, ", softcap: 2"),
            ("rms(eps: 1e-5)", _WIDTH, ", clip: 1.5"),
            ("layer(eps: 1e-5)", "", ", clip: 0.8, sinks: true"),
        )
    ),
    "temperature": (
        Probe(_with(), _with(rest="temperature: logarithmic(scale: 0.8, every: 3)")),
        Probe(_with(position="none", mask="chunked(4)"), _with(position="none", mask="chunked(4)", rest=_COLUMNS)),
        Probe(_with(rest="softcap: 2"), _with(rest=f"softcap: 2, {_COLUMNS}")),
    ),
    "gate": (
        Probe(_with(), _with(rest="gate: channel")),
        Probe(_with(rest="gate: head"), _with(rest="gate: channel")),
        Probe(_with(rest="gate: head, sinks: true"), _with(rest="gate: channel, sinks: true")),
        Probe(_with(mask="bidirectional", rest="softcap: 2"), _with(mask="bidirectional", rest="softcap: 2, gate: head")),
    ),
    "sinks": (
        Probe(_with(), _with(rest="sinks: true")),
        Probe(_with(rest="softcap: 2", mask="sliding(4)"), _with(rest="softcap: 2, sinks: true", mask="sliding(4)")),
        Probe(_with(mask="bidirectional", position="none"), _with(rest="sinks: true", mask="bidirectional", position="none")),
        Probe(_with(kv_heads=4, rest="bias: true"), _with(kv_heads=4, rest="bias: true, sinks: true")),
    ),
    "qk_norm": (
        Probe(_with(), _qk("rms(eps: 1e-5)")),
        Probe(_with(), _qk("rms(eps: 1e-5), qk_norm_over: head")),
        Probe(_qk("rms(eps: 1e-5)"), _qk("layer(eps: 1e-5)")),
        Probe(_qk("layer(eps: 1e-5, bias: false)"), _qk("layer(eps: 1e-5)")),
        Probe(_qk("rms(eps: 1e-5), qk_norm_over: width"), _qk("layer(eps: 1e-5), qk_norm_over: width")),
    ),
    "qk_norm_over": tuple(
        Probe(_qk(f"{norm}{one}"), _qk(f"{norm}{other}"))
        for norm in ("rms(eps: 1e-5)", "layer(eps: 1e-5)")
        for one, other in (("", _EACH), ("", _WIDTH), (_EACH, _WIDTH))
    ),
}


def sequence(c, w, x, frame):
    batch, length, _ = x.shape
    out = np.zeros_like(x)

    def made():
        k = [[_heads(c, w, "k", c.kv_heads, x[b, t], frame, b, t) for t in range(length)] for b in range(batch)]
        return k, [[_clipped(c, linear(w, "v", x[b, t])).reshape(c.kv_heads, c.head_dim) for t in range(length)] for b in range(batch)]

    keys, values = frame.keys_and_values(made)
    for b in range(batch):
        q = [_heads(c, w, "q", c.heads, x[b, t], frame, b, t) for t in range(length)]
        k, v = keys[b], values[b]
        for i in range(length):
            mixed = np.zeros((c.heads, c.head_dim))
            for h in range(c.heads):
                shared = h // (c.heads // c.kv_heads)
                seen = [j for j in range(length) if frame.visible(b, i, j)]
                query = q[i][h] * frame.temperature(c, b, i)
                scores = [_score(c, query, k[j][shared]) + frame.bias(h, c, w, b, (i, j), (query, k[j][shared])) for j in seen]
                if c.sinks:
                    scores.append(float(w["sinks"][h]))
                shares = [math.exp(s - max(scores)) for s in scores]  # less than the largest: none overflows
                for j, share in zip(seen, shares, strict=False):  # a sink's share is left over
                    mixed[h] += share / sum(shares) * v[j][shared]
            if c.gate is not None:
                gate = 1 / (1 + np.exp(-linear(w, "gate", x[b, i])))
                mixed *= gate.reshape(c.heads, -1)  # one number for all channels of a head, or one for each
            out[b, i] = linear(w, "o", mixed.reshape(-1))
    return out


def _score(c, q, k) -> float:
    score = c.scale * sum(float(a) * float(b) for a, b in zip(q, k, strict=True))
    return score if c.softcap is None else c.softcap * math.tanh(score / c.softcap)


def _heads(c, w, role: str, heads: int, x, frame, b: int, t: int) -> list[np.ndarray]:
    """Queries or keys of one token: mapped, normalised, clipped, then turned; or normalised last."""
    parts = linear(w, role, x).reshape(heads, c.head_dim)
    if c.qk_norm_at == "before_position":
        parts = _normalised(c, w.under(f"{role}_norm"), parts)
    turned = np.array([frame.rotate(_clipped(c, part), b, t) for part in parts])
    return list(turned if c.qk_norm_at == "before_position" else _normalised(c, w.under(f"{role}_norm"), turned))


def _normalised(c, w, parts: np.ndarray) -> np.ndarray:
    """parts [H, D] -> the same"""
    if c.qk_norm is None:
        return parts
    if c.qk_norm_over == "width":
        return normalise(c.qk_norm, w, parts.reshape(-1)).reshape(parts.shape)
    return np.array([normalise(c.qk_norm, w if c.qk_norm_over == "head" else w.row(h), part) for h, part in enumerate(parts)])


def _clipped(c, x):
    return x if c.clip is None else np.array([min(max(number, -c.clip), c.clip) for number in x])
