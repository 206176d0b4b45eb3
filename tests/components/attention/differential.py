"""Differential attention, query by query (Ye et al., 2024, section 2.1, equations 1 to 3); heads pair as in the library's DiffLlama."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import normalise
from tests.oracle.weights import linear


def _with(mask: str = "causal", position: str = "rope(theta: 100)", **fields: object) -> str:
    """scale is stated: by default it follows head_dim."""
    base = {"heads": 4, "kv_heads": 2, "head_dim": 6, "scale": 0.5, "lambda_init": 0.3, "head_norm": "rms(eps: 1e-5, weight: false)"}
    return spec(attention=f"differential({', '.join(f'{n}: {v}' for n, v in (base | fields).items())})", mask=mask, position=position)


PROBES = {
    "heads": Probe(_with(heads=4), _with(heads=2)),
    "kv_heads": (Probe(_with(kv_heads=2), _with(kv_heads=4)), Probe(_with(mask="bidirectional"), _with(mask="bidirectional", kv_heads=4))),
    "head_dim": Probe(_with(head_dim=6), _with(head_dim=4)),
    "bias": tuple(Probe(_with(), _with(bias=f"[{role}]")) for role in "qkvo"),
    "scale": (Probe(_with(), _with(scale=0.25)), Probe(_with(mask="sliding(4)"), _with(mask="sliding(4)", scale="head_dim ** -0.5"))),
    "lambda_init": (Probe(_with(), _with(lambda_init=0.8)), Probe(_with(position="alibi"), _with(position="alibi", lambda_init=-0.2))),
    "head_norm": (
        Probe(_with(), _with(head_norm="rms(eps: 1e-5)")),
        Probe(_with(head_norm="rms(eps: 1e-5)"), _with(head_norm="layer(eps: 1e-5)")),
    ),
}


def sequence(c, w, x, frame):
    batch, length, _ = x.shape
    out = np.zeros_like(x)
    share = math.exp(float(w["lambda_q1"] @ w["lambda_k1"])) - math.exp(float(w["lambda_q2"] @ w["lambda_k2"])) + c.lambda_init
    half, group = c.heads // 2, c.heads // c.kv_heads
    for b in range(batch):
        q, k = (
            [_turned(w, role, heads, x[b, t], frame, b, t) for t in range(length)] for role, heads in (("q", c.heads), ("k", c.kv_heads))
        )
        v = [linear(w, "v", x[b, t]).reshape(2, c.kv_heads // 2, c.head_dim) for t in range(length)]  # the two heads of each pair
        for i in range(length):
            read = np.zeros((c.heads, 2 * c.head_dim))
            for h in range(c.heads):
                shared = h // group
                keys = [j for j in range(length) if frame.visible(b, i, j)]
                scores = [c.scale * float(q[i][h] @ k[j][shared]) + frame.bias(h, c, w, b, (i, j), (q[i][h], k[j][shared])) for j in keys]
                shares = [math.exp(s - max(scores)) for s in scores]
                for j, part in zip(keys, shares, strict=True):
                    read[h] += part / sum(shares) * v[j][:, shared % (c.kv_heads // 2)].reshape(-1)
            pairs = [normalise(c.head_norm, w.under("head_norm"), read[h] - share * read[half + h]) for h in range(half)]
            out[b, i] = linear(w, "o", (1 - c.lambda_init) * np.concatenate(pairs))
    return out


def _turned(w, role: str, heads: int, x, frame, b: int, t: int) -> list[np.ndarray]:
    return [frame.rotate(part, b, t) for part in linear(w, role, x).reshape(heads, -1)]
