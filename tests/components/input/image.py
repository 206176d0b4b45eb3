"""Images in patches (Dosovitskiy et al., 2020, section 3.1): its sizes are those of the parts of the embedding."""

from __future__ import annotations

from tests.components.probe import Probe, picture


def _with(image: str) -> str:
    return picture(input=f"image({image})")


PROBES = {
    "size": Probe(_with("size: [8, 12], channels: 3, patch: 2"), _with("size: [12, 8], channels: 3, patch: 2"), follows=("grid",)),
    "channels": Probe(_with("size: 8, channels: 3, patch: 2"), _with("size: 8, channels: 4, patch: 2")),
    "patch": (
        Probe(_with("size: 8, channels: 3, patch: 2"), _with("size: 8, channels: 3, patch: 4"), follows=("grid", "length", "context")),
        Probe(_with("size: 8, channels: 3, patch: [2, 4]"), _with("size: 8, channels: 3, patch: [4, 2]"), follows=("grid",)),
    ),
}
