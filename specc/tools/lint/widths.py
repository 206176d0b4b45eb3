"""Lint rules on widths: what hardware and fused kernels take well."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics.finding import Diagnostic
from specc.resolve.model import Resolved
from specc.tools.lint.blame import parts, place, warning

ALIGNED, TILE = 8, 64  # elements of two bytes: 16 bytes, and the 128 bytes of a cache line


def head_width(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT010"""
    for layer, part in parts(resolved):
        found = part.component
        if part.component.axis != "attention":
            continue
        latent = hasattr(found, "nope_dim")
        widths = {"nope_dim": found.nope_dim + found.rope_dim, "value_dim": found.value_dim} if latent else {"head_dim": found.head_dim}
        for name, width in widths.items():
            if width % ALIGNED:
                message = f"heads {width} channels wide: fused attention kernels take multiples of {ALIGNED}, and pad or refuse others"
                span = place(resolved, part.path, name, layer)
                yield warning(resolved, "LNT010", message, span, f"{_nearest(width, ALIGNED)} would be taken as they are")


def whole_tiles(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT011"""
    dim = resolved.model.stack.dims.dim
    if dim % TILE:
        message = f"the model is {dim} wide, which is no multiple of {TILE}"
        yield warning(resolved, "LNT011", message, place(resolved, "dim"), f"{_nearest(dim, TILE)} fill the tiles of a matrix unit")
    for layer, part in parts(resolved):
        hidden = getattr(part.component, "hidden", None)
        if isinstance(hidden, int) and hidden % TILE:
            message = f"the feed-forward network is {hidden} wide inside, which is no multiple of {TILE}"
            span = place(resolved, part.path, "hidden", layer)
            yield warning(resolved, "LNT011", message, span, f"{_nearest(hidden, TILE)} fill the tiles of a matrix unit")


def vocabulary(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT012"""
    vocab = resolved.model.stack.dims.vocab
    if vocab is not None and vocab % ALIGNED:
        message = f"a vocabulary of {vocab:_} is no multiple of {ALIGNED}, so the last matrix product is slower than a larger one"
        yield warning(resolved, "LNT012", message, place(resolved, "vocab"), f"{vocab + -vocab % TILE:_} leaves room that no token uses")


def one_key_head(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT016"""
    for layer, part in parts(resolved):
        heads, kv_heads = (getattr(part.component, name, None) for name in ("heads", "kv_heads"))
        if kv_heads == 1 and heads is not None and heads > 1:
            message = f"one key and value head serves all {heads} query heads, and cannot be split over devices"
            span = place(resolved, part.path, "kv_heads", layer)
            yield warning(resolved, "LNT016", message, span, "a few (`kv_heads: 8`, for one) keep most of the saving")


def _nearest(width: int, step: int) -> str:
    below = width - width % step
    return f"{below} or {below + step}" if below else str(step)
