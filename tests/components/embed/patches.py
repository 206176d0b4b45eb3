"""Patches through one linear map (Dosovitskiy et al., 2020, equation 1)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, Refused, picture


def _with(arguments: str = "", image: str = "size: 8, channels: 3, patch: 2") -> str:
    return picture(input=f"image({image})", embed=f"patches({arguments})")


PROBES = {
    "width": Probe(picture(embed="project(patches(width: 8))"), picture(embed="project(patches(width: 12))")),
    "patch": (
        Probe(_with(), _with(image="size: 8, channels: 3, patch: 4"), follows=("context",)),
        Refused(_with("patch: 4"), "IMG001"),
    ),
    "channels": (Probe(_with(), _with(image="size: 8, channels: 1, patch: 2")), Refused(_with("channels: 1"), "IMG001")),
    "bias": Probe(_with(), _with("bias: true")),
}


def tokens(c, w, pixels, image):
    down, across = c.patch
    rows, columns = pixels.shape[1] // down, pixels.shape[2] // across
    found = []
    for row in range(rows):
        for column in range(columns):
            patch = pixels[:, row * down : (row + 1) * down, column * across : (column + 1) * across].astype(np.float64)
            token = np.array([np.sum(kernel * patch) for kernel in w["weight"]])
            found.append(token + w["bias"] if c.bias else token)
    return np.array(found)
