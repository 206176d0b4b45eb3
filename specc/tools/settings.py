"""What `[tool.specc]` of pyproject.toml, or specc.toml, says: which findings are wanted, and where.

The settings of a file are those of the nearest folder at or above it that holds a specc.toml, or a pyproject.toml with a
`[tool.specc]` table (specc.toml first). They are not merged with those of folders above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from specc.tools.globs import matches
from specc.tools.lint.rules import RULES

FIRM = frozenset({"LNT002", "LNT003", "LNT005", "LNT006"})  # errors, though they are lints
WARNINGS = frozenset({"CFG005", "CFG007"})


def can_be_ignored(code: str) -> bool:
    """Whether a finding of this code may be a warning, or is a check: what a spec means stays certain without it."""
    return code.startswith("CHK") or code in WARNINGS or (code.startswith("LNT") and code not in FIRM)


@dataclass(frozen=True, slots=True)
class Choice:
    """Codes, or beginnings of codes, that are wanted and unwanted."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def verdict(self, code: str) -> bool | None:
        """The longest that fits decides, `ignore` where they are equally long. None where nothing fits."""
        wanted, unwanted = (max((len(c) for c in codes if code.startswith(c)), default=0) for codes in (self.select, self.ignore))
        return None if wanted == unwanted == 0 else wanted > unwanted


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one folder and what lies below it."""

    folder: Path = Path()
    choice: Choice = Choice()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    strict: bool = False
    over: Choice = field(default=Choice())  # of the command line

    def wants(self, code: str, path: Path) -> bool:
        """Whether a finding that can be ignored is shown for a file: the command line, then the file, then the rest decide."""
        here = tuple(c for glob, codes in self.per_file if matches(glob, path, self.folder) for c in codes)
        for choice in (self.over, Choice(ignore=here), self.choice):
            if (verdict := choice.verdict(code)) is not None:
                return verdict
        return code not in RULES or RULES[code].default

    def excludes(self, path: Path) -> bool:
        return any(matches(glob, path, self.folder) for glob in self.exclude)


def settings_for(path: Path) -> Settings:
    """The settings that hold for a file or folder. Raises SpecError where they are wrong."""
    folder = path.resolve()
    return _of(folder if folder.is_dir() else folder.parent)


@cache
def _of(folder: Path) -> Settings:
    for name in ("specc.toml", "pyproject.toml"):
        file = folder / name
        if file.is_file():
            from specc.tools.settings_file import read_settings  # read only where there may be settings

            if (found := read_settings(file)) is not None:
                return found
    return Settings() if folder == folder.parent else _of(folder.parent)


def forget() -> None:
    """Read again what may have been changed since."""
    _of.cache_clear()
