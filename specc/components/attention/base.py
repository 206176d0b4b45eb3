"""What the kinds of attention over heads have in common."""

from __future__ import annotations

from typing import Any

from specc.ir.node import Dims


def filled(given: dict[str, Any], dims: Dims, roles: tuple[str, ...], grouped: bool = True) -> dict[str, Any]:
    """`given` with what follows from the heads: which maps have a bias, the head width, the scale, and, where heads may share
    them (`grouped`), as many key-value heads as heads.
    """
    made, heads = dict(given), given.get("heads")
    if isinstance(given.get("bias"), bool):
        made["bias"] = roles if given["bias"] else ()
    if isinstance(heads, int) and heads > 0:
        if grouped:
            made.setdefault("kv_heads", heads)
        if dims.dim % heads == 0:
            made.setdefault("head_dim", dims.dim // heads)
    if isinstance(made.get("head_dim"), int) and made["head_dim"] > 0:
        made.setdefault("scale", made["head_dim"] ** -0.5)
    return made
