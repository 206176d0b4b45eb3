"""Which specs changed since a revision of git, and what of them was proven before."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import specc
from specc.diagnostics.finding import SpecError, fail
from specc.resolve.program import read
from specc.resources import TEMPLATES
from specc.syntax import tree
from specc.syntax.parser import parse

FOLDER = ".specc_cache"  # at the root of the repository, unless --cache names another


def changed(revision: str, folder: Path, specs: Iterable[Path]) -> list[Path]:
    """Those of the specs that differ from the revision (from where this branch left it), or use a file that does.

    Raises SpecError where there is no repository, or no such revision.
    """
    root = root_of(folder)
    if not _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"):
        raise fail("SYS032", f"git knows no revision `{revision}` here", None, "a shallow clone holds few: fetch more of its history")
    base = (_git(root, "merge-base", revision, "HEAD") or revision).strip()
    known, others = ("diff", "--name-only", "-z", base), ("ls-files", "--others", "--exclude-standard", "-z")
    names = [name for command in (known, others) for name in _git(root, *command).split("\0")]
    touched = {(root / name).resolve() for name in names if name.endswith(".specc")}
    return [path for path in specs if _closure(path.resolve()) & touched]


def root_of(folder: Path) -> Path:
    """The root of the repository. Raises SpecError where there is none."""
    found = _git(folder, "rev-parse", "--show-toplevel").strip()
    if not found:
        raise fail("SYS032", f"{folder} lies in no git repository")
    return Path(found).resolve()


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; nothing where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise fail("SYS032", f"cannot run git: {error.strerror or error}") from None
    return done.stdout if done.returncode == 0 else ""


def _closure(path: Path) -> set[Path]:
    """A spec and every file that it uses."""
    found, waiting = {path}, [path]
    while waiting:
        new = set(_used(waiting.pop())) - found
        found |= new
        waiting += new
    return found


@cache
def _used(path: Path) -> tuple[Path, ...]:
    try:
        items = parse(read(path)).items
    except SpecError:  # reported when the spec is looked at
        return ()
    used = [item.path for item in items if isinstance(item, tree.Use)]
    used += [item.target for item in items if isinstance(item, tree.Adapter) and not item.named]
    return tuple((path.parent / name).resolve() for name in used)


class Cache:
    """Proofs that succeeded, by the architecture's fingerprint and the compiler that was proven."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed

    def _file(self, fingerprint: str) -> Path:
        key = hashlib.sha256(f"{fingerprint} {compiler()} {self.seed}".encode()).hexdigest()
        return self.folder / "verify" / f"{key[:40]}.json"

    def holds(self, fingerprint: str) -> bool:
        return self._file(fingerprint).is_file()

    def keep(self, fingerprint: str, model: str) -> None:
        from specc.tools.output import write_whole

        write_whole(self._file(fingerprint), json.dumps({"fingerprint": fingerprint, "model": model, "specc": specc.__version__}) + "\n")
        if not (ignore := self.folder / ".gitignore").exists():
            write_whole(ignore, "*\n")


@cache
def compiler() -> str:
    """A digest of what computes the numbers: a proof of one compiler says nothing of the next."""
    digest = hashlib.sha256()
    package = Path(specc.__file__).parent
    for file in sorted([*package.rglob("*.py"), *TEMPLATES.rglob("*.*")]):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    for name in ("torch", "onnxruntime", "onnxruntime-gpu"):
        digest.update(_version(name).encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""
