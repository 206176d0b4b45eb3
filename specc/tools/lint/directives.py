"""Comments that ignore a finding: `# specc: ignore[CODE] reason`, and `# specc: ignore-file[CODE] reason` above a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from specc.diagnostics.codes import all_codes
from specc.diagnostics.finding import Diagnostic, did_you_mean
from specc.source import Source, Span
from specc.tools.settings import can_be_ignored

COMMENT = re.compile(r'"[^"\n]*"|#[^\n]*')
DIRECTIVE = re.compile(r"#\s*specc:\s*(?P<word>ignore(?:-file)?)\b\s*(?P<list>\[(?P<codes>[^\]\n]*)\])?\s*(?P<reason>[^\r\n]*)")
TOP = re.compile(r"\ufeff?(?:\s|#[^\n]*|specc\s+\d+)*")


@dataclass(slots=True)
class Directive:
    """One comment. `lines` are those that it is about; None for the whole file."""

    span: Span
    lines: range | None
    codes: dict[str, Span]
    used: set[str] = field(default_factory=set)

    def takes(self, code: str, first: int, last: int) -> bool:
        return code in self.codes and (self.lines is None or first in self.lines or last in self.lines)


@dataclass(slots=True)
class Directives:
    """The comments of one file, and what is wrong with them."""

    found: list[Directive] = field(default_factory=list)
    wrong: list[Diagnostic] = field(default_factory=list)

    def ignores(self, diagnostic: Diagnostic) -> bool:
        """Whether a finding is ignored; the comment is then of use."""
        span = diagnostic.span
        if not self.found or span is None or not (diagnostic.severity == "warning" or can_be_ignored(diagnostic.code)):
            return False
        first, last = span.line, span.source.position(max(span.end - 1, span.start))[0]
        taken = [d for d in self.found if d.takes(diagnostic.code, first, last)]
        for directive in taken:
            directive.used.add(diagnostic.code)
        return bool(taken)

    def unused(self, looked_for: Callable[[str], bool]) -> list[Diagnostic]:
        """A warning for each code that ignored nothing and was looked for; its span is what has to go."""
        found = []
        for directive in self.found:
            idle = [c for c in directive.codes if c not in directive.used and looked_for(c)]
            alone = bool(idle) and len(idle) == len(directive.codes)
            for code in idle[:1] if alone else idle:
                span = directive.span if alone else directive.codes[code]
                what = ", ".join(idle) if alone else code
                found.append(Diagnostic("LNT004", f"nothing here is reported as {what} any more", span, "remove the ignore", "warning"))
        return found


def directives(source: Source) -> Directives:
    """The directives in a text."""
    result = Directives()
    if "specc:" not in source.text:
        return result
    top, lines = TOP.match(source.text), _Lines(source.text)
    for comment in COMMENT.finditer(source.text):
        if comment[0][0] == "#" and (match := DIRECTIVE.search(source.text, comment.start(), comment.end())):
            _read(source, match, top.end() if top else 0, lines, result)
    return result


def _read(source: Source, match: re.Match[str], top: int, lines: _Lines, result: Directives) -> None:
    span = Span(source, match.start(), match.start() + len(match[0].rstrip()))
    whole = match["word"] == "ignore-file"
    codes: dict[str, Span] = {}
    wrong: list[tuple[str, Span, str | None]] = []
    if not (match["codes"] or "").strip():
        wrong.append(("an ignore names the codes that it is about", span, f"`# specc: {match['word']}[CODE] reason`"))
    at = match.start("codes")
    for word in (match["codes"] or "").split(","):
        code, place = word.strip(), at + len(word) - len(word.lstrip())
        at += len(word) + 1
        if not code:
            continue
        here = Span(source, place, place + len(code))
        if code not in all_codes():
            wrong.append((f"no diagnostic has the code `{code}`", here, did_you_mean(code, all_codes())))
        elif not can_be_ignored(code):
            wrong.append((f"{code} is an error in what the spec says, and cannot be ignored", here, "warnings and checks can be"))
        else:
            codes[code] = here
    if whole and match.start() > top:
        wrong.append(("`ignore-file` stands at the top of a file", span, "above the first model, block or `use`"))
    if wrong:
        result.wrong += [Diagnostic("LNT006", message, where, help) for message, where, help in wrong]
    elif not match["reason"].strip(" -:\t\r"):
        message = f"this ignores {', '.join(codes)} and does not say why"
        result.wrong.append(Diagnostic("LNT005", message, span, "write the reason behind the bracket"))
    if codes and not (whole and match.start() > top):
        line, column = source.position(match.start())
        alone = not source.line(line)[: column - 1].strip("\ufeff \t#")
        result.found.append(Directive(span, None if whole else lines.about(line, alone), codes))


class _Lines:
    """The lines of a text, and which of them brackets join; found once, for a text may be full of comments."""

    def __init__(self, text: str) -> None:
        self.joined: list[range] = []  # by line, from 0
        self.after: list[int] = []  # by line, from 0: the first at or behind it that holds more than a comment
        first = depth = 0
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if depth <= 0:
                first, depth = number, 0
            plain = COMMENT.sub("", line)
            depth += sum(map(plain.count, "([")) - sum(map(plain.count, ")]"))
            if depth <= 0 or number == len(lines) - 1:
                self.joined += [range(first + 1, number + 2)] * (number + 1 - first)
        after = len(lines) - 1
        for number in reversed(range(len(lines))):
            content = lines[number].strip()
            after = number if content and not content.startswith("#") else after
            self.after.append(after)
        self.after.reverse()

    def about(self, line: int, alone: bool) -> range:
        """The lines that a comment in this one (from 1) is about: its own, or the next where it stands alone."""
        return self.joined[self.after[line] if alone and line < len(self.after) else line - 1]
