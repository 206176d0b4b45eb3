"""What a comparison is made of: the levels of the verdict, reasons, and the rules of a conversion."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal


class Level(IntEnum):
    """From what no one notices to what no one can repair."""

    IDENTICAL = 0
    RENAMED = 1
    UNCHANGED = 2
    COMPUTES = 3
    CONVERTIBLE = 4
    BREAKING = 5


VERDICTS = {
    Level.IDENTICAL: "identical",
    Level.RENAMED: "renamed only",
    Level.UNCHANGED: "loads unchanged",
    Level.COMPUTES: "loads but computes something else",
    Level.CONVERTIBLE: "convertible",
    Level.BREAKING: "breaking",
}
MEANINGS = {
    Level.IDENTICAL: "The two texts mean the same.",
    Level.RENAMED: "Only names, comments or labels differ: every checkpoint loads and computes the same.",
    Level.UNCHANGED: "Every checkpoint loads and computes the same numbers.",
    Level.COMPUTES: "Existing checkpoints still load without an error, and the numbers are others.",
    Level.CONVERTIBLE: "Existing checkpoints do not load as they are; after this conversion they compute the same numbers.",
    Level.BREAKING: "Existing checkpoints do not load, and no rule gives the old numbers.",
}
CATEGORIES = {
    "numerics": "numerics",
    "state dict": "state dict",
    "published": "published layouts",
    "interface": "ONNX inputs and outputs",
    "cache": "cache",
    "counts": "counts",
    "limits": "limits",
    "training": "training",
    "checks": "checks",
    "names": "names",
}
Change = Literal["changed", "added", "removed", "reshaped", "renamed", "retied"]


@dataclass(frozen=True, slots=True)
class Reason:
    """One difference. `level` is None for what merely follows from others (counts, cache, inputs and outputs).

    path: where it is in the typed model, `layers[i]` standing for every layer. pointer: the same as a JSON pointer into
    `specc ir` (the first place of several). old_at, new_at: `file:line`, None where the text does not say it.
    """

    category: str
    change: Change
    path: str
    old: str | None = None
    new: str | None = None
    level: Level | None = None
    pointer: str | None = None
    old_at: str | None = None
    new_at: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one tensor of a converted checkpoint comes about: renamed, copied, filled with zeros or ones, or dropped."""

    op: Literal["rename", "copy", "zeros", "ones", "drop"]
    target: str
    source: str | None = None


@dataclass(slots=True)
class Difference:
    """What became of one model. `state`: whether both sides have it."""

    old_name: str | None
    new_name: str | None
    level: Level = Level.IDENTICAL
    reasons: list[Reason] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    sample: bool = False  # a family, compared by its sample config

    @property
    def name(self) -> str:
        if self.old_name and self.new_name and self.old_name != self.new_name:
            return f"{self.old_name} -> {self.new_name}"
        return self.new_name or self.old_name or ""

    @property
    def verdict(self) -> str:
        if self.old_name is None:
            return "new model"
        return "breaking: the model is gone" if self.new_name is None else VERDICTS[self.level]
