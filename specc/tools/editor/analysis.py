"""What `specc check` says of a text that is being typed, and the models in it that are whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from specc.diagnostics.finding import Diagnostic, SpecError
from specc.resolve.model import Resolved
from specc.resolve.program import Program, load_source
from specc.source import Source, Span
from specc.tools.editor.project import Project
from specc.tools.lint.run import Examiner
from specc.tools.settings import Settings, settings_for


@dataclass(slots=True)
class Analysis:
    """One file as it was read. `found` holds the findings of its own text, those of used files at the `use` that leads there."""

    path: Path
    source: Source
    found: list[Diagnostic] = field(default_factory=list)
    models: dict[str, Resolved] = field(default_factory=dict)
    read: set[Path] = field(default_factory=set)  # every file that had a part in it
    _program: Program | None = None

    def program(self, project: Project) -> Program | None:
        """Every model and block in reach; None where a file does not parse."""
        if self._program is None:
            try:
                self._program = load_source(self.source, self.path, project.read)
            except SpecError:
                return None
        return self._program


def analyse(project: Project, path: Path, settings: Callable[[Path], Settings] = settings_for) -> Analysis:
    """Everything that there is to say about one file. Raises SpecError where it cannot be read, or a setting is wrong."""
    found = Analysis(path, project.read(path))

    def read(other: Path, name: str | None = None, span: Span | None = None) -> Source:
        found.read.add(other.resolve())
        return found.source if other == path else project.read(other, name, span)

    def seen(resolved: Resolved) -> None:
        found.models[resolved.definition.name] = resolved

    (examined,) = Examiner(settings, read, seen).examine([path])
    found.found = [_at_home(d, found.source, project, path) for d in examined.found]
    return found


def _at_home(found: Diagnostic, source: Source, project: Project, path: Path) -> Diagnostic:
    """A finding of another file, told where this one begins to use it."""
    if found.span is None or found.span.source is source:
        return found
    use = next((o for o in project.outline(path).uses() if Path(found.span.source.name).name == Path(o.name).name), None)
    span = Span(source, use.start, use.end) if use else Span(source, 0, 0)
    return Diagnostic(found.code, f"in {found.span}: {found.message}", span, found.help, found.severity)
