"""Image files to the pixel values that a model takes, as the model's preprocessor_config.json says; or arrays, as they are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specc.diagnostics.finding import fail

if TYPE_CHECKING:
    from numpy import ndarray

SETTINGS = "preprocessor_config.json"
MOST_BYTES, MOST_PIXELS = 64 << 20, 1 << 26
RESAMPLES = range(6)  # Pillow's numbers: nearest, lanczos, bilinear, bicubic, box, hamming


@dataclass(frozen=True, slots=True)
class Preparation:
    """What becomes of an image: scaled to `size` (its shorter side where that is one number), cropped in the middle, (x * factor - mean) / std."""

    size: tuple[int, ...] | None = None
    resample: int = 3
    crop: tuple[int, int] | None = None
    factor: float = 1 / 255
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, slots=True)
class Picture:
    """Pixel values [1, C, H, W] for the model, and [H, W, 3] of 0 to 255 for people to look at."""

    pixels: ndarray
    seen: ndarray


def preparation(folder: Path, size: str | None, mean: str | None, std: str | None) -> Preparation:
    """By the folder's own settings, each of which the caller may overrule. Raises SpecError where neither says all of it."""
    path = folder / SETTINGS
    found = _from_settings(_read(path)) if path.is_file() else None
    if found is None and None in (size, mean, std):
        what = f"{folder} holds no {SETTINGS}, which says how the model wants an image"
        raise fail("SYS022", what, None, "give --size, --mean and --std, or the pixel values themselves as an .npy file")
    made = found or Preparation()
    changes: dict[str, Any] = {}
    if size is not None:
        height, width = (_numbers(size, "--size", int) * 2)[:2]
        changes |= {"size": (height, width), "crop": None}
    changes |= {name: _numbers(text, f"--{name}", float) for name, text in (("mean", mean), ("std", std)) if text is not None}
    return Preparation(**{name: changes.get(name, getattr(made, name)) for name in made.__slots__})


def _numbers(text: str, name: str, kind: type) -> tuple:
    try:
        found = tuple(kind(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or (kind is int and not all(0 < n <= 1 << 14 for n in found)) or (name == "--std" and 0 in found):
        raise fail("SYS022", f"`{name} {text[:60]}` is not what it takes", None, "for one: --size 224,224 --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225")
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.stat().st_size < 1 << 20 else None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _unclear("it is no JSON object")
    return found


def _from_settings(given: dict[str, Any]) -> Preparation:
    if given.get("do_pad"):
        raise _unclear("it asks for padding (`do_pad`)")
    changes: dict[str, Any] = {}
    if given.get("do_resize", "size" in given):
        changes["size"] = _size(given.get("size"), "size")
        if given.get("resample") not in RESAMPLES:
            raise _unclear("it does not say by which filter an image is scaled (`resample`, 0 to 5)")
        changes["resample"] = given["resample"]
    if given.get("do_center_crop", False):
        crop = _size(given.get("crop_size"), "crop_size")
        changes["crop"] = (crop * 2)[:2]
    if not given.get("do_rescale", True):
        changes["factor"] = 1.0
    elif "rescale_factor" in given:
        changes["factor"] = _floats(given["rescale_factor"], "rescale_factor")[0]
    if given.get("do_normalize", True):
        changes |= {"mean": _floats(given.get("image_mean"), "image_mean"), "std": _floats(given.get("image_std"), "image_std")}
        if 0 in changes["std"]:
            raise _unclear("`image_std` holds a zero")
    return Preparation(**changes)


def _size(value: Any, name: str) -> tuple[int, ...]:
    """(height, width), or the shorter side alone."""
    if isinstance(value, dict):
        value = [value.get("shortest_edge")] if value.keys() == {"shortest_edge"} else [value.get("height"), value.get("width")]
    sizes = tuple(value if isinstance(value, list) else [value])
    if not sizes or len(sizes) > 2 or not all(type(n) is int and 0 < n <= 1 << 14 for n in sizes):
        raise _unclear(f"`{name}` is neither a height and a width nor a shortest edge")
    return sizes


def _floats(value: Any, name: str) -> tuple[float, ...]:
    values = tuple(value if isinstance(value, list) else [value])
    if not values or not all(type(n) in (int, float) and abs(n) < 1e6 for n in values):
        raise _unclear(f"`{name}` is not a list of numbers")
    return tuple(map(float, values))


def _unclear(why: str):
    return fail("SYS022", f"{SETTINGS} does not say what to do with an image: {why}", None, "give the pixel values themselves as an .npy file")


def is_array(path: Path) -> bool:
    return path.suffix == ".npy"


def read_array(path: Path, channels: int) -> Picture:
    """Pixel values [C, H, W] or [1, C, H, W], as the model takes them."""
    import numpy as np

    try:
        values = np.load(path, allow_pickle=False) if path.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError) as error:
        raise fail("SYS022", f"{path} cannot be read as an array: {error}") from None
    if values is None or values.dtype.kind != "f" or values.ndim not in (3, 4) or values.shape[-3] != channels or (values.ndim == 4 and len(values) != 1):
        raise fail("SYS022", f"{path} holds no pixel values of one image", None, f"the model takes floats of the shape [{channels}, height, width]")
    pixels = values.reshape(1, *values.shape[-3:]).astype(np.float32)
    if not np.isfinite(pixels).all():
        raise fail("SYS022", f"{path} holds values that are not finite")
    low, high = pixels.min(), pixels.max()
    grey = (pixels[0] - low) / (high - low if high > low else 1) * 255
    seen = np.stack([grey[n if channels >= 3 else 0] for n in range(3)], axis=-1).astype(np.uint8)
    return Picture(pixels, seen)


def read_image(path: Path, how: Preparation, channels: int) -> Picture:
    """An image file by Pillow, which is needed for that alone. Raises SpecError where it cannot be read or made what the model takes."""
    import numpy as np

    opened = _opened(path, how)
    if channels != 3:
        raise fail("SYS022", f"the model takes {channels} channels, and an image file has 3", None, "give the pixel values as an .npy file")
    seen = np.asarray(opened, dtype=np.uint8)  # [H, W, 3]
    values = (seen.astype(np.float32) * np.float32(how.factor) - np.array(how.mean, np.float32)) / np.array(how.std, np.float32)
    if values.shape != seen.shape:
        raise _unclear("means and deviations are as many as colours")
    return Picture(np.ascontiguousarray(values.transpose(2, 0, 1)[None]), seen)


def _opened(path: Path, how: Preparation) -> Any:
    """The image, scaled and cropped."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise fail("SYS022", "an image file is read by Pillow, which is not installed", None, "pip install 'specc-compiler[images]', or give an .npy file") from None
    try:
        with Image.open(path) as file:
            if file.width * file.height > MOST_PIXELS:
                raise fail("SYS022", f"{path} has {file.width} times {file.height} pixels, which is more than specc reads")
            image = file.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise fail("SYS022", f"{path} cannot be read as an image: {error}") from None
    if how.size is not None:
        image = image.resize(_scaled(image.size, how.size), how.resample)
    if how.crop is not None:
        (width, height), (down, across) = image.size, how.crop
        if down > height or across > width:
            raise fail("SYS022", f"{path} is {height} times {width} pixels once it is scaled, and {down} times {across} are to be cut out of it")
        top, left = (height - down) // 2, (width - across) // 2
        image = image.crop((left, top, left + across, top + down))
    return image


def _scaled(before: tuple[int, int], wanted: tuple[int, ...]) -> tuple[int, int]:
    """Width and height."""
    if len(wanted) == 2:
        return wanted[1], wanted[0]
    width, height = before
    short, long = min(before), max(before)
    other = int(wanted[0] * long / short)
    return (wanted[0], other) if width <= height else (other, wanted[0])
