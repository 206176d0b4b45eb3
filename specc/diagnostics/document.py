"""`python -m specc.diagnostics.document`: writes docs/errors.md from the table of diagnostics."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from specc.diagnostics.codes import Code, all_codes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
ROOMS = {
    "SYN": "The text does not follow the grammar",
    "LIM": "The input is larger or deeper than specc reads",
    "NAM": "A name that nothing answers to, or that stands where it may not",
    "TYP": "A value of a kind that does not fit",
    "VAL": "A value that is missing, out of range, or contradicts itself",
    "SHP": "Sizes that do not fit one another",
    "IMG": "What an image model cannot be made of",
    "TRN": "What a model is trained for",
    "CFG": "A published config that cannot be taken over as it is",
    "WGT": "A checkpoint, or the rules that say how it names its tensors",
    "ADP": "An adapter, its places in a model, and its weights",
    "CAP": "What can be written and not yet compiled",
    "OUT": "Outputs that a build is asked for",
    "CHK": "A check that does not hold",
    "LNT": "What has no effect, or is seldom meant",
    "LCK": "specc.lock, and what is not as it says",
    "SYS": "Files, folders and the command line",
}
INTRODUCTION = """\
# Diagnostics

<!-- Written by `python -m specc.diagnostics.document`. Change the table in specc/diagnostics/table instead. -->

Every finding has a code that stays the same for ever. `specc explain CODE` prints its entry. A finding is an error, and the
exit status 1, except for LNT001, LNT004, the lint rules (LNT010 and up), CFG005 and CFG007, which are warnings (CFG005 is an
error for quantised weights); SYS codes exit with status 2. [ci.md](ci.md) says how findings are turned on and off, and what an
ignore comment looks like. Where a spec alone can cause a finding, the entry shows a whole file that does, and one that does not.
"""
SHOWN = 24  # lines of an example; those of the limits are long by nature


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    codes = sorted(all_codes().values(), key=lambda code: (list(ROOMS).index(code.id[:3]), code.id))
    for room, entries in groupby(codes, key=lambda code: code.id[:3]):
        parts.append(f"## {room}: {ROOMS[room]}\n")
        parts += [_entry(code) for code in entries]
    return "\n".join(parts)


def _entry(code: Code) -> str:
    text = f"### {code.id}: {code.title}\n\n{code.cause}\n"
    for name, example in (("Wrong", code.wrong), ("Right", code.right)):
        if example:
            text += f"\n{name}:\n\n```specc\n{_cut(example)}```\n"
    return text


def _cut(example: str) -> str:
    """An example as a page can show it: rows and lines that only repeat themselves are shortened."""
    lines = [line if len(line) <= 130 else f"{line[:60]} ... {line[-40:]}" for line in example.splitlines()]
    if len(lines) > SHOWN:
        lines = [*lines[: SHOWN - 4], "  # ...", *lines[-3:]]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
