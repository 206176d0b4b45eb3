"""Learned absolute positions (Devlin et al., 2018, section 3, figure 2); the offset is OPT's."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Case, Probe, Refused, picture, spec


def _with(arguments: str = "", **fields: object) -> str:
    return spec(embed=f"tokens() + learned_position({arguments})", position="none", **fields)


def _on_images(arguments: str = "", size: str = "[8, 12]", tokens: str = "concat(class_token(), patches())") -> str:
    return picture(input=f"image(size: {size}, channels: 3, patch: 2)", embed=f"{tokens} + learned_position({arguments})")


CASES = (
    Case(_on_images(), (picture(embed="concat(class_token(), patches())"), _on_images(tokens="patches()"))),
    Case(_on_images(tokens="patches()"), (picture(embed="patches()"),)),
)
PROBES = {
    "grid": (
        Probe(_on_images(), _on_images(size="[12, 8]"), follows=("size",)),
        Refused(_on_images("grid: [4, 7]"), "IMG001"),
        Refused(_with("grid: [2, 2]"), "IMG002"),
    ),
    "width": Probe(
        spec(embed="tokens() + project(learned_position(width: 8))"), spec(embed="tokens() + project(learned_position(width: 12))")
    ),
    "length": (Probe(_with("length: 16"), _with("length: 13")), Probe(_with(context=16), _with(context=20), follows=("context",))),
    "antialias": (
        Probe(_on_images(), _on_images("antialias: true")),
        Probe(_on_images(tokens="patches()"), _on_images("antialias: true", tokens="patches()")),
        Refused(_with("antialias: true"), "IMG002"),
    ),
    "offset": (
        Probe(_with("length: 16"), _with("length: 16, offset: 2")),
        Probe(_with("length: 16, offset: 1", mask="bidirectional"), _with("length: 16, offset: 2", mask="bidirectional")),
    ),
}


def vector(c, w, frame, b: int, t: int):
    return w["weight"][frame.position[b, t] + c.offset]


def tokens(c, w, pixels, image):
    """The table, its last rows laid out as the grid that they belong to and interpolated to the image's own."""
    table = w["weight"]
    leading = len(table) - c.grid[0] * c.grid[1]
    rows, columns = pixels.shape[1] // image.patch[0], pixels.shape[2] // image.patch[1]
    grid = table[leading:].reshape(*c.grid, -1)
    shares = _smooth if c.antialias else _cubic
    grid = np.einsum("rg,gtc->rtc", shares(c.grid[0], rows), grid)
    grid = np.einsum("sg,rgc->rsc", shares(c.grid[1], columns), grid)
    return np.concatenate((table[:leading], grid.reshape(rows * columns, -1)))


def _cubic(before: int, after: int) -> np.ndarray:
    """[after, before]: the share of each old sample in each new one, both at the middle of their cells; the border repeats."""
    shares = np.zeros((after, before))
    for n in range(after):
        at = (n + 0.5) * before / after - 0.5
        for sample in range(int(np.floor(at)) - 1, int(np.floor(at)) + 3):
            shares[n, min(max(sample, 0), before - 1)] += _kernel(abs(at - sample))
    return shares


def _smooth(before: int, after: int) -> np.ndarray:
    """The same where the kernel is as wide as what it makes one of, and takes samples from inside alone: its shares sum to 1."""
    wide = max(before / after, 1)
    shares = np.zeros((after, before))
    for n in range(after):
        at = (n + 0.5) * before / after - 0.5
        for sample in range(before):
            shares[n, sample] = _kernel(abs(at - sample) / wide, -0.5)
        shares[n] /= shares[n].sum()
    return shares


def _kernel(x: float, a: float = -0.75) -> float:
    """Keys, 1981, equation 4."""
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0
