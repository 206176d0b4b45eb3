"""Models side by side on one page: what differs, and each one's picture below."""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path

from specc.ir.model import Model
from specc.tools.compare import Row
from specc.tools.draw.image import STYLE, inline
from specc.tools.draw.picture import draw

HERE = Path(__file__).parent


def comparison(models: list[Model], rows: list[Row]) -> str:
    """The whole page."""
    style = STYLE.read_text(encoding="utf-8") + (HERE / "page.css").read_text(encoding="utf-8")
    names = [model.name for model in models]
    head = "<tr><th></th>" + "".join(f"<th>{escape(name)}</th>" for name in names) + "</tr>"
    body = ""
    for group, found in groupby(rows, key=lambda row: row.group):
        body += f'<tr><th class="topic" colspan="{len(models) + 1}">{escape(group)}</th></tr>' + "".join(map(_row, found))
    pictures = "".join(
        f"<h2>{escape(model.name)}</h2>{f'<p class=doc>{escape(model.doc)}</p>' if model.doc else ''}"
        f'<div class="picture">{inline(draw(model), f"{model.name}, drawn")}</div>'
        for model in models
    )
    title = " and ".join(names)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
        f'<p class="doc">What is the same in all is set in grey; ratios are to the first.</p>\n<table class="compared">{head}{body}</table>\n'
        f"{pictures}\n</main>\n</body>\n</html>\n"
    )


def _row(row: Row) -> str:
    ratios = (None, *row.ratios) if row.numbers else (None,) * len(row.values)
    cells = ""
    for value, ratio in zip(row.values, ratios, strict=True):
        told = f' <span class="ratio">× {ratio:.3g}</span>' if ratio is not None and row.differs else ""
        cells += f'<td class="{"n" if row.numbers else "mono"}">{escape(value)}{told}</td>'
    return f'<tr class="{"differs" if row.differs else "same"}"><td>{escape(row.name)}</td>{cells}</tr>'
