"""The picture as an SVG file that stands alone."""

from __future__ import annotations

from pathlib import Path

from specc.ir.model import Model
from specc.tools.draw.picture import draw
from specc.tools.draw.svg import Drawing, element

STYLE = Path(__file__).with_name("style.css")
ARROW = element(
    "defs",
    element(
        "marker",
        element("path", d="M0 0L8 4L0 8z", class_="tip"),
        id="arrow", viewBox="0 0 8 8", refX=7, refY=4, markerWidth=7, markerHeight=7, orient="auto-start-reverse",
    ),
)  # fmt: skip


def svg(model: Model) -> str:
    """A whole file, its style inside it."""
    style = element("style", STYLE.read_text(encoding="utf-8").replace(":root, svg", "svg"))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + inline(draw(model), f"{model.name}, drawn", style) + "\n"


def inline(drawing: Drawing, label: str, before: str = "") -> str:
    """A drawing as an element."""
    width, height = round(drawing.width), round(drawing.height)
    content = before + ARROW + "".join(drawing.parts)
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", width=width, height=height, role="img",
        aria_label=label,
    )  # fmt: skip
