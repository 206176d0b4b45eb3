"""The flow of a block or an embedding, drawn: boxes of sublayers, the residual stream straight down, branches beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specc.ir.model import Instance
from specc.ir.node import Component, Dims, Parameter
from specc.tools.draw.flow import Flow, Node
from specc.tools.draw.svg import Drawing, element, text, titled, width, wrapped
from specc.tools.spell import brief, shape, spell

BOX, GAP, ROW = 236.0, 30.0, 26.0  # widths of a box and of the space beside it, height between rows
SUM = 11.0  # radius of a sum
NARROW = 2 * SUM + 8
NUMBERED = re.compile(r"\.\d+(?=\.)")
DRAWN = ("attention", "ffn", "norm", "embed", "head", "position")  # axes that have a colour of their own


def count(number: int) -> str:
    """A number of parameters as one would say it."""
    for size, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}" if number < 999.5 * size else f"{number / size:.0f}{unit}"
    return str(number)


def box(title: str, component: Component, dims: Dims, wide: float = BOX) -> Drawing:
    """One component: its name, its fields, its parameters; the shapes of those where it is pointed at."""
    parameters = component.parameters(dims)
    learned = sum(p.size for p in parameters if p.role != "fixed")
    lines = wrapped(brief(component), wide - 20, 11, 5)
    maps = wrapped(_maps(parameters), wide - 20, 10.5, 2) if _maps(parameters) else []
    foot = f"{count(learned)} parameters" if learned else ""
    height = 24 + 14 * (len(lines) + len(maps)) + (15 if foot else 0) + 4
    drawing = Drawing(wide, height)
    axis = component.axis if component.axis in DRAWN else "other"
    parts = element("rect", x=0.5, y=0.5, width=wide - 1, height=drawing.height - 1, rx=7, class_=f"box {axis}")
    parts += text(10, 18, title, "title")
    parts += "".join(text(10, 34 + 14 * n, line, "fields") for n, line in enumerate(lines))
    parts += "".join(text(10, 34 + 14 * (len(lines) + n), line, "shape") for n, line in enumerate(maps))
    parts += text(10, 34 + 14 * (len(lines) + len(maps)), foot, "muted") if foot else ""
    told = "\n".join([spell(component, full=True), *(f"{p.name} {shape(p.shape)}" for p in parameters[:40])])
    drawing.add(titled(parts, told))
    return drawing


def _maps(parameters: tuple[Parameter, ...]) -> str:
    """The linear maps of a component that has several: `q 4096→4096`; those of its experts once."""
    found: dict[str, None] = {}
    for p in parameters:
        name = NUMBERED.sub("", p.name.removesuffix(".weight"))
        if len(p.shape) == 2 and p.name.endswith(".weight"):
            found[f"{name}\xa0{p.shape[1]}→{p.shape[0]}"] = None
    return " ".join(found) if len(found) > 1 else ""


@dataclass(slots=True)
class _Placed:
    """A node with its drawing and where that stands."""

    node: Node
    drawing: Drawing
    x: float = 0  # of its middle
    y: float = 0  # of its upper edge

    @property
    def bottom(self) -> float:
        return self.y + self.drawing.height


def draw(flow: Flow, dims: Dims, labels: dict[str, str]) -> tuple[Drawing, float]:
    """-> the drawing, and where in it the stream comes in and goes out. labels: what to call the inputs."""
    placed = {id(node): _Placed(node, _drawn(node, dims, labels)) for node in flow.nodes}
    wide = [max((p.drawing.width for p in placed.values() if p.node.col == col), default=NARROW) for col in range(flow.cols)]
    tall = [max((p.drawing.height for p in placed.values() if p.node.row == row), default=0) for row in range(flow.rows)]
    for one in placed.values():
        one.x = sum(wide[: one.node.col]) + GAP * one.node.col + wide[one.node.col] / 2
        one.y = (
            sum(tall[: one.node.row])
            + ROW * one.node.row
            + (0 if one.node.kind == "call" else (tall[one.node.row] - one.drawing.height) / 2)
        )
    drawing = Drawing(sum(wide) + GAP * (flow.cols - 1), sum(tall) + ROW * (flow.rows - 1))
    for one in placed.values():
        for number, (source, note) in enumerate(one.node.sources):
            _edge(drawing, placed[id(source)], one, note, number)
    for one in placed.values():
        drawing.put(one.drawing, one.x - one.drawing.width / 2, one.y)
    return drawing, placed[id(flow.output)].x


def _drawn(node: Node, dims: Dims, labels: dict[str, str]) -> Drawing:
    if node.kind == "call" and node.instance is not None:
        return box(_title(node.instance), node.instance.component, node.instance.dims(dims))
    if node.kind == "add":
        drawing = Drawing(2 * SUM, 2 * SUM)
        drawing.add(element("circle", cx=SUM, cy=SUM, r=SUM - 0.5, class_="sum"))
        drawing.add(element("path", d=f"M{SUM - 5} {SUM}h10M{SUM} {SUM - 5}v10", class_="cross"))
        return drawing
    label = labels.get(node.text, node.text)
    drawing = Drawing(width(label, 12) + 20, 24)
    drawing.add(
        element("rect", x=0.5, y=0.5, width=drawing.width - 1, height=23, rx=11.5, class_="pill" if node.kind != "input" else "port")
    )
    drawing.add(text(drawing.width / 2, 16, label, "label", "middle"))
    return drawing


def _title(instance: Instance) -> str:
    """`norm.attention`; a part of the embedding by its kind, which its path only repeats."""
    return instance.path.removeprefix("embed.")


def _edge(drawing: Drawing, source: _Placed, target: _Placed, note: str, number: int) -> None:
    """From the lower edge of what is read to what reads it: down, across, down; into a sum from the side."""
    arrow = {"class_": "edge", "marker_end": "url(#arrow)"}
    x, y = source.x, source.bottom
    into_side = target.node.kind in ("add", "join") and source.node.col != target.node.col
    if source.node.col == target.node.col:
        drawing.add(element("path", d=f"M{x:.1f} {y:.1f}V{target.y - 1:.1f}", **arrow))
        if note:
            drawing.add(text(x + 6, target.y - 8, note, "note"))
    elif into_side:
        middle = target.y + target.drawing.height / 2
        edge = target.x + target.drawing.width / 2 + 1
        drawing.add(element("path", d=f"M{x:.1f} {y:.1f}V{middle - 6:.1f}q0 6 -6 6H{edge:.1f}", **arrow))
        if note:
            drawing.add(text(x - 10, middle - 5, note, "note", "end"))
    else:
        turn = target.y - ROW / 2 - 3
        start = y if turn >= y else source.y
        drawing.add(element("path", d=f"M{x:.1f} {start:.1f}V{turn:.1f}", class_="edge"))
        drawing.add(element("circle", cx=x, cy=turn, r=2.5, class_="dot"))
        side = 6 if target.x > x else -6
        path = f"M{x:.1f} {turn:.1f}H{target.x - side:.1f}q{side} 0 {side} 6V{target.y - 1:.1f}"
        drawing.add(element("path", d=path, **arrow))
        if note:
            drawing.add(text(target.x + 6, turn + 12, note, "note"))
    if target.node.instance is not None and target.node.kind == "call" and not note and number == 0:
        drawing.add(text(target.x + 6, target.y - 7, f"{target.node.instance.width}", "shape"))
