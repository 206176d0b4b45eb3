"""What a token of an image model takes of each patch, head by head, laid over the image (as in Caron et al., 2021, figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specc.diagnostics.finding import fail
from specc.tools.runtime.images import Looks, look, looks_of
from specc.tools.runtime.pictures import Picture
from specc.tools.runtime.session import Graph

if TYPE_CHECKING:
    from numpy import ndarray

GAP = 4  # pixels between the tiles
LEAST = 224  # a tile is made at least as tall, in whole multiples of the image
SHARE = 0.65  # of the map's colour; the image has the rest
# from dark to bright: as the attention grows, so does the lightness
COLOURS = ((13, 8, 135), (126, 3, 168), (204, 71, 120), (248, 149, 64), (240, 249, 33))


def attention_of(graph: Graph, picture: Picture, layer: int | None, token: int) -> ndarray:
    """[H, rows, columns]: what the token takes of each patch in a layer, the last one that the graph shows where none is named."""
    looks = looks_of(graph)
    shown = sorted(int(name.partition(".")[2]) for name in graph.outputs if name.startswith("attentions."))
    if not shown:
        raise fail("SYS022", "this graph gives no attention maps", None, "build it with `--outputs attentions:last`")
    if layer is not None and layer not in shown:
        raise fail("SYS022", f"this graph gives no attention map of layer {layer}", None, f"it gives those of {', '.join(map(str, shown))}")
    if token == 0 and not looks.leading:
        raise fail("SYS022", "this model has no class token, whose attention would be drawn", None, "`--token N` draws that of another, counted from 0")
    name = f"attentions.{shown[-1] if layer is None else layer}"
    map_ = look(graph, picture, [name])[name]  # [H, T, T]
    if not 0 <= token < map_.shape[1]:
        raise fail("SYS022", f"an image of this size has {map_.shape[1]} tokens, and there is no token {token}")
    rows, columns = _grid(picture, looks)
    return map_[:, token, looks.leading :].reshape(-1, rows, columns)


def _grid(picture: Picture, looks: Looks) -> tuple[int, int]:
    height, width = picture.pixels.shape[2:]
    return height // looks.patch[0], width // looks.patch[1]


def drawn(picture: Picture, maps: ndarray, patch: tuple[int, int]) -> ndarray:
    """The image, then each head's map over it, in rows of tiles. maps [H, rows, columns] -> [height, width, 3]"""
    import numpy as np

    image = picture.seen[: maps.shape[1] * patch[0], : maps.shape[2] * patch[1]]  # what fills no patch is not looked at
    tiles = [image, *(_over(image, map_, patch) for map_ in maps)]
    times = max(1, -(-LEAST // len(image)))
    tiles = [tile.repeat(times, axis=0).repeat(times, axis=1) for tile in tiles]
    across = int(np.ceil(np.sqrt(len(tiles))))
    height, width = tiles[0].shape[:2]
    down = -(-len(tiles) // across)
    whole = np.full((down * (height + GAP) - GAP, across * (width + GAP) - GAP, 3), 255, np.uint8)
    for number, tile in enumerate(tiles):
        top, left = number // across * (height + GAP), number % across * (width + GAP)
        whole[top : top + height, left : left + width] = tile
    return whole


def _over(image: ndarray, map_: ndarray, patch: tuple[int, int]) -> ndarray:
    """One map in colours over the image: each patch one colour, the strongest the brightest."""
    import numpy as np

    low, high = map_.min(), map_.max()
    level = (map_ - low) / (high - low if high > low else 1) * (len(COLOURS) - 1)
    table, below = np.array(COLOURS, np.float32), np.minimum(level.astype(int), len(COLOURS) - 2)
    share = (level - below)[..., None]
    colours = table[below] * (1 - share) + table[below + 1] * share  # [rows, columns, 3]
    colours = colours.repeat(patch[0], axis=0).repeat(patch[1], axis=1)
    return np.rint(SHARE * colours + (1 - SHARE) * image).astype(np.uint8)
