"""The bias of BEiT (Bao et al., 2021, section 2.1; its ways are those of Liu et al., 2021, section 3.2, equation 4)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Draw, Probe, Refused, picture, spec

_SEEN = Draw({"position.weight": 1, "*.position.weight": 1})


def _with(arguments: str = "", **fields: object) -> str:
    plain = {"position": f"grid_bias({arguments})", "embed": "concat(class_token(), patches())", "head": "hidden"}
    return picture(**(plain | {"attention": "attention(heads: 2)"} | fields))


_CAPPED = "attention(heads: 4, kv_heads: 2, head_dim: 6, softcap: 2)"
PROBES = {
    "grid": (
        Probe(_with("grid: [4, 6]"), _with("grid: [4, 5]"), _SEEN),
        Probe(_with("grid: [4, 7]"), _with("grid: [5, 7]"), _SEEN),
        Probe(_with("grid: [4, 8], shared: true"), _with("grid: [3, 8], shared: true"), _SEEN),
        Refused(_with("grid: [0, 2]"), "VAL001"),
        Refused(spec(position="grid_bias(grid: [2, 2])"), "IMG002"),
        Refused(_with(embed="patches()"), "IMG001"),
    ),
    "shared": (
        Probe(_with(), _with("shared: true"), _SEEN),
        Probe(_with(attention=_CAPPED), _with("shared: true", attention=_CAPPED), _SEEN),
        Probe(_with(mask="window(5, 7)"), _with("shared: true", mask="window(5, 7)"), _SEEN),
    ),
}


def score(c, held, head: int, query: int, key: int, vectors) -> float:
    """query and key: 0 is the class token, behind it stand the patches, row by row."""
    table = (held.shared if c.shared else held.own)["weight"][:, head]
    rows, columns = held.grid
    if query == 0 or key == 0:
        return float(table[-1] if query == key else table[-3] if query == 0 else table[-2])
    down = (query - 1) // columns - (key - 1) // columns
    across = (query - 1) % columns - (key - 1) % columns
    ways = table[:-3].reshape(2 * c.grid[0] - 1, 2 * c.grid[1] - 1)
    ways = _linear(ways.shape[0], 2 * rows - 1) @ ways @ _linear(ways.shape[1], 2 * columns - 1).T
    return float(ways[down + rows - 1, across + columns - 1])


def _linear(before: int, after: int) -> np.ndarray:
    """[after, before]: the share of each old sample in each new one, both at the middle of their cells."""
    shares = np.zeros((after, before))
    for n in range(after):
        at = min(max((n + 0.5) * before / after - 0.5, 0), before - 1)
        low = int(np.floor(at))
        shares[n, low] += 1 - (at - low)
        shares[n, min(low + 1, before - 1)] += at - low
    return shares
