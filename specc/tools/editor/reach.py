"""The names that could be meant at a place: those of the block, of the model and what it extends, of all files in reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from specc.tools.editor.analysis import Analysis
from specc.tools.editor.names import Names
from specc.tools.editor.outline import Frame
from specc.tools.editor.project import Project
from specc.tools.editor.weights import parameter_paths


@dataclass(frozen=True, slots=True)
class Reach:
    """`frame`: what is being read where the name would stand."""

    project: Project
    analysis: Analysis
    frame: Frame

    @property
    def path(self) -> Path:
        return self.analysis.path

    def locals(self) -> list[str]:
        """What the block around has bound."""
        block = self.frame.section("block")
        return self._bound("local", lambda frame: block is not None and frame.start == block.start)

    def variables(self) -> list[str]:
        """Of `for`, and the config of a family."""
        around = {(f.kind, f.start) for f in self.frame.outwards()}
        return self._bound("variable", lambda frame: (frame.kind, frame.start) in around)

    def fields(self) -> list[str]:
        """The fields of the model around, and of what it extends."""
        return self._of_chain("field")

    def layers(self) -> list[str]:
        return self._of_chain("layer")

    def sections(self, kind: str) -> list[str]:
        """The models or blocks of all files in reach, the one around left out."""
        own = self.frame.section(kind)
        occurrences = (o for path in self.project.used(self.path) for o in self.project.outline(path).occurrences)
        names = dict.fromkeys(o.name for o in occurrences if o.kind == kind and o.defines)
        return [name for name in names if own is None or name != own.name]

    def labels(self) -> list[str]:
        """`norm.attention`: every labelled instance that a block in reach calls."""
        occurrences = (o for path in self.project.used(self.path) for o in self.project.outline(path).occurrences)
        return list(dict.fromkeys(o.path for o in occurrences if o.kind == "label" and o.frame.section("block") is not None))

    def parameters(self) -> list[str]:
        """The left sides that a weights map of the model around may have, where the model is whole."""
        model = self.frame.section("model")
        resolved = self.analysis.models.get(model.name) if model is not None else None
        return parameter_paths(resolved.model) if resolved is not None else []

    def _bound(self, kind: str, fits: Callable[[Frame], bool]) -> list[str]:
        outline = self.project.outline(self.path)
        return list(dict.fromkeys(o.name for o in outline.occurrences if o.kind == kind and o.defines and fits(o.frame)))

    def _of_chain(self, kind: str) -> list[str]:
        model = self.frame.section("model")
        own = next((f for f in self.project.outline(self.path).sections("model") if model is not None and f.start == model.start), None)
        if own is None:
            return []
        names = Names(self.project, self.path)
        return list(dict.fromkeys(o.name for path, frame in names.chain(self.path, own) for o in names.bound(kind, path, frame)))
