"""One editor's work: what is open, what was found in it, and which files a change reaches."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from specc.diagnostics.finding import SpecError
from specc.source import Source
from specc.tools.editor.analysis import Analysis, analyse
from specc.tools.editor.project import Project
from specc.tools.settings import forget


@dataclass(slots=True)
class Session:
    """Analyses are made when they are asked for, and kept until a file that they read changes."""

    project: Project = field(default_factory=Project)
    known: dict[Path, Analysis] = field(default_factory=dict)

    def change(self, path: Path, text: str) -> list[Path]:
        """Takes the text of an open file. -> the open files whose findings may be others now, itself first."""
        self.project.buffers[path] = text
        return self._reached(path)

    def close(self, path: Path) -> list[Path]:
        """The file is what lies on disk again. -> the open files that may be others now."""
        self.project.buffers.pop(path, None)
        return [other for other in self._reached(path) if other != path]

    def disk_changed(self) -> list[Path]:
        """Files or settings changed outside. -> every open file."""
        forget()
        self.known.clear()
        return list(self.project.buffers)

    def analysis(self, path: Path) -> Analysis:
        """What there is to say about an open file as it stands."""
        if path not in self.known:
            try:
                self.known[path] = analyse(self.project, path)
            except SpecError as error:  # a setting is wrong, or the file is gone
                self.known[path] = Analysis(path, Source(str(path), self.project.buffers.get(path, "")), list(error.diagnostics))
        return self.known[path]

    def _reached(self, path: Path) -> list[Path]:
        reached = [path, *(other for other, one in self.known.items() if other != path and path.resolve() in one.read)]
        for other in reached:
            self.known.pop(other, None)
        return [other for other in reached if other == path or other in self.project.buffers]
