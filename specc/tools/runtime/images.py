"""What a built model says of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specc.diagnostics.finding import fail
from specc.tools.runtime.pictures import Picture, Preparation, is_array, read_array, read_image
from specc.tools.runtime.session import Graph

if TYPE_CHECKING:
    from numpy import ndarray

PIXELS = "pixel_values"


@dataclass(frozen=True, slots=True)
class Looks:
    """What a graph takes: channels, the extents of a patch, and how many tokens stand in front of the patches."""

    channels: int
    patch: tuple[int, int]
    leading: int


def looks_of(graph: Graph) -> Looks:
    """Raises SpecError where the graph reads no images."""
    if PIXELS not in graph.inputs or "specc.patch" not in graph.properties:
        raise fail("SYS022", "this graph reads text", None, "give it --prompt, --text or --ids")
    down, across = map(int, graph.properties["specc.patch"].split())
    return Looks(int(graph.inputs[PIXELS][1][1]), (down, across), int(graph.properties["specc.leading"]))


def read_picture(graph: Graph, path: Path, how: Preparation | None) -> Picture:
    """One image as the graph takes it. how: needed for an image file, not for an array."""
    looks = looks_of(graph)
    picture = read_array(path, looks.channels) if is_array(path) else read_image(path, how or Preparation(), looks.channels)
    height, width = picture.pixels.shape[2:]
    if height < looks.patch[0] or width < looks.patch[1]:
        raise fail("SYS022", f"{path} is {height} times {width} pixels for the model, and a single patch {looks.patch[0]} times {looks.patch[1]}")
    return picture


def look(graph: Graph, picture: Picture, wanted: Sequence[str] | None = None) -> dict[str, ndarray]:
    """The outputs of the graph for one image, each without the axis of the batch."""
    import numpy as np

    kind = {"tensor(float16)": np.float16}.get(graph.inputs[PIXELS][0], np.float32)
    found, _ = graph.run({PIXELS: picture.pixels.astype(kind)}, list(wanted or graph.outputs))
    return {name: array[0].astype(np.float32, copy=False) for name, array in found.items()}
