"""`specc compare A B`: models side by side, as a table or a page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specc.tools.compare import Row

WIDEST = 56  # letters of a column


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="two or more: FILE, or FILE#MODEL where a file holds several")
    parser.add_argument("-o", "--out", metavar="FILE.html", help="write a page, with each model's picture")
    parser.add_argument("--all", action="store_true", help="print what is the same in all of them too")


def run(options: argparse.Namespace) -> int:
    import json
    from dataclasses import asdict
    from pathlib import Path

    from specc.diagnostics.finding import fail
    from specc.faces.loading import one_model
    from specc.tools.compare import compared

    if len(options.specs) < 2:
        raise fail("SYS003", "there is nothing to compare with", None, "name two specs: `specc compare A B`")
    models = [one_model(*_named(name)).model for name in options.specs]
    rows = compared(models)
    if options.out is not None:
        from specc.tools.draw.comparison import comparison
        from specc.tools.output import write_whole

        if Path(options.out).suffix.lower() not in (".html", ".htm"):
            raise fail("SYS003", f"cannot tell from the name {options.out} what to write", None, "it ends in .html")
        write_whole(Path(options.out), comparison(models, rows))
        print(options.out)
    elif options.format == "json":
        found = [asdict(row) | {"differs": row.differs, "ratios": row.ratios} for row in rows]
        print(json.dumps({"models": [model.name for model in models], "rows": found}, indent=2))
    else:
        shown = [row for row in rows if row.differs or options.all]
        print("\n".join(table([model.name for model in models], shown)) if shown else "the same in everything that is compared")
    return 0


def _named(argument: str) -> tuple[str, str | None]:
    from pathlib import Path

    file, _, model = argument.rpartition("#")
    return (argument, None) if not file or Path(argument).is_file() else (file, model)


def table(names: list[str], rows: list[Row]) -> list[str]:
    """Columns, long values on several lines; the ratio to the first model behind a number."""
    from itertools import groupby
    from textwrap import wrap

    lines: list[list[list[str]]] = [[[""], *([name] for name in names)]]
    for group, found in groupby(rows, key=lambda row: row.group):
        lines.append([[], *([] for _ in names)])
        lines.append([[group], *([] for _ in names)])
        for row in found:
            ratios = (None, *row.ratios) if row.numbers else (None,) * len(names)
            cells = [f"{value}  x {ratio:.3g}" if ratio is not None else value for value, ratio in zip(row.values, ratios, strict=True)]
            lines.append([[f"  {row.name}"], *([part for text in cell.splitlines() for part in wrap(text, WIDEST)] for cell in cells)])
    widths = [max((len(text) for line in lines for text in line[n]), default=0) for n in range(len(names) + 1)]
    told = []
    for line in lines:
        for part in range(max(1, *map(len, line))):
            cells = [(cell[part] if part < len(cell) else "").ljust(width) for cell, width in zip(line, widths, strict=True)]
            told.append("  ".join(cells).rstrip())
    return told
