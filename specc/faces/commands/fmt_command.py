"""`specc fmt FILES...`: write specs in the canonical layout, comments kept."""

from __future__ import annotations

import argparse
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="spec files, or folders that hold some")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name the files that would change, and exit with 1 where there are some"
    )
    parser.add_argument("--diff", action="store_true", help="write nothing; print what would change")
    parser.add_argument("--force-exclude", action="store_true", help="leave excluded files out even where they are named")


def run(options: argparse.Namespace) -> int:
    import json
    from difflib import unified_diff

    from specc.diagnostics import SpecError
    from specc.resolve.program import read
    from specc.syntax.format import format_text
    from specc.tools.lint.discover import discover
    from specc.tools.output import write_whole
    from specc.tools.settings import settings_for

    files, changed, wrong = discover(options.files, settings_for, options.force_exclude), [], []
    for file in files:
        try:
            source = read(file)
            formatted = format_text(source)
        except SpecError as error:  # the next file is looked at too
            wrong += error.diagnostics
            continue
        if formatted == source.text:
            continue
        changed.append(file)
        if options.diff and options.format == "text":
            lines = [text.splitlines(keepends=True) for text in (source.text, formatted)]
            print("".join(unified_diff(*lines, f"{file}", f"{file} (formatted)")), end="")
        elif not options.check and not options.diff:
            _write(file, formatted, write_whole)
    if wrong:
        raise SpecError(wrong)
    dry = options.check or options.diff
    if options.format == "json":
        print(json.dumps({"files": len(files), "changed": [str(file) for file in changed], "written": not dry}))
    elif not options.diff:
        for file in changed:
            print(f"{'would change' if dry else 'formatted'} {file}")
        print(_summary(len(files), len(changed), dry))
    return int(options.check and bool(changed))


def _write(file: Path, text: str, write_whole) -> None:
    """Through a link to the file itself, which keeps its mode."""
    target = file.resolve()
    mode = target.stat().st_mode
    write_whole(target, text)
    target.chmod(mode)


def _summary(files: int, changed: int, dry: bool) -> str:
    count = f"{files} file" if files == 1 else f"{files} files"
    if not changed:
        return f"{count} in the canonical layout"
    return f"{changed} of {count} {'would change' if dry else 'changed'}"
