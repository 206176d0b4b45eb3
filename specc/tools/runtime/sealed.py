"""Whether the weight files that a graph points into are still those it was built over."""

from __future__ import annotations

from pathlib import Path

from specc.diagnostics.finding import fail
from specc.weights.seal import seal, sealed

AGAIN = "build the graph again over the weights as they are now: `specc build SPEC --to onnx -o DIR --weights ...`"


def weights_folder(folder: Path, seals: str) -> Path:
    """The folder that holds the graph's weight files. Raises SpecError where one is missing or has changed."""
    known = sealed(seals)
    place = folder
    if any(not (folder / name).is_file() for name in known):
        place = _behind_links(folder, set(known)) or folder
    for name, expected in known.items():
        if not (place / name).is_file():
            lost = AGAIN if name != "weights.safetensors" else f"`specc weights init SPEC -o {folder}` writes new ones"
            raise fail("WGT020", f"the graph points into {name}, and {folder} does not have it", None, lost)
        if (found := seal(place / name)) != expected:
            raise fail("WGT020", f"{name} is not the file that the graph was built over: {_difference(found, expected)}", None, AGAIN)
    return place


def _difference(found: str, expected: str) -> str:
    size, wanted = found.split(":")[-2], expected.split(":")[-2]
    return f"it has {size} bytes, not {wanted}" if size != wanted else "its header has changed"


def _behind_links(folder: Path, names: set[str]) -> Path | None:
    """Download caches keep the files elsewhere, under other names, and links in the folder; the graph knows the real names."""
    places: dict[str, Path] = {}
    for link in folder.glob("*.safetensors"):
        real = link.resolve()
        if link.is_symlink() and real.name in names:
            places[real.name] = real.parent
    return next(iter(places.values())) if set(places) == names and len(set(places.values())) == 1 else None
