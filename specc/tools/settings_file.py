"""Reading specc.toml and the `[tool.specc]` table of pyproject.toml: everything that is wrong with one, each with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specc.diagnostics.codes import all_codes
from specc.diagnostics.finding import Diagnostic, SpecError, did_you_mean, fail
from specc.source import Source, Span
from specc.tools.settings import Choice, Settings, can_be_ignored

KEYS = ("select", "ignore", "per-file-ignores", "exclude", "strict")


def read_settings(file: Path) -> Settings | None:
    """The settings of one file; None for a pyproject.toml that has none. Raises SpecError."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise fail("SYS030", f"cannot read {file}: {getattr(error, 'strerror', None) or 'it is no UTF-8 text'}") from None
    if file.name == "pyproject.toml" and "specc" not in text:
        return None
    import tomllib  # read only where there are settings

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise fail("SYS030", f"{file} is no TOML: {error}") from None
    if file.name == "pyproject.toml":
        tool = table.get("tool")
        if not isinstance(tool, dict) or "specc" not in tool:
            return None
        table = tool["specc"]
    return _Reader(file, text).settings(table)


class _Reader:
    """Reads one table and gathers what is wrong with it."""

    def __init__(self, file: Path, text: str) -> None:
        self.file, self.source, self.wrong = file, Source(_shown(file), text), []

    def settings(self, table: Any) -> Settings:
        if not isinstance(table, dict):
            raise fail("SYS031", "`specc` is a table of settings", self._span("specc"))
        for key in table.keys() - set(KEYS):
            self._refuse(key, f"there is no setting called `{key}`", did_you_mean(key, KEYS))
        per_file = table.get("per-file-ignores", {})
        if not isinstance(per_file, dict):
            self._refuse("per-file-ignores", "`per-file-ignores` is a table: a path, and the codes to ignore there")
            per_file = {}
        if not isinstance(table.get("strict", False), bool):
            self._refuse("strict", "`strict` is true or false")
        found = Settings(
            self.file.parent.resolve(),
            Choice(self._codes("select", table.get("select", [])), self._codes("ignore", table.get("ignore", []))),
            tuple((glob, self._codes(glob, codes)) for glob, codes in per_file.items()),
            self._words("exclude", table.get("exclude", [])),
            table.get("strict") is True,
        )
        if self.wrong:
            raise SpecError(self.wrong)
        return found

    def _codes(self, key: str, value: Any) -> tuple[str, ...]:
        found = self._words(key, value)
        for code in found:
            if problem := bad_code(code, ignoring=key != "select"):
                self._refuse(code, *problem)
        return found

    def _words(self, key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(word, str) and word for word in value):
            return tuple(value)
        self._refuse(key, f"`{key}` is a list of strings")
        return ()

    def _refuse(self, key: str, message: str, help: str | None = None) -> None:
        self.wrong.append(Diagnostic("SYS031", message, self._span(key), help))

    def _span(self, key: str) -> Span:
        start = max(self.source.text.find(key, max(self.source.text.find("[tool.specc"), 0)), 0)
        return Span(self.source, start, start + len(key))


def bad_code(code: str, ignoring: bool) -> tuple[str, str | None] | None:
    """What is wrong with a code, or a beginning of codes, of `select` or `ignore`: the message and the help."""
    fitting = [known for known in all_codes() if known.startswith(code)]
    if not fitting:
        return f"no diagnostic has a code that begins with `{code}`", did_you_mean(code, all_codes())
    if ignoring and not any(map(can_be_ignored, fitting)):
        return f"`{code}` is an error in what a spec says, and cannot be ignored", "warnings (LNT) and checks (CHK) can be"
    return None


def choice_of(select: list[str], ignore: list[str]) -> Choice:
    """The command line's codes. Raises SpecError where one is wrong."""
    wrong = [problem for codes, ignoring in ((select, False), (ignore, True)) for c in codes if (problem := bad_code(c, ignoring))]
    if wrong:
        raise SpecError([Diagnostic("SYS031", message, None, help) for message, help in wrong])
    return Choice(tuple(select), tuple(ignore))


def _shown(file: Path) -> str:
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)
