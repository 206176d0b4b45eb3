"""The whole model as one drawing: a tower for each stack, and beside it every kind of layer in full."""

from __future__ import annotations

from specc.ir.model import Instance, Model, Stack
from specc.tools.draw import boxes
from specc.tools.draw.flow import of_block, of_formula
from specc.tools.draw.folded import Group, Kind, folded, kinds
from specc.tools.draw.masks import SIDE, picture
from specc.tools.draw.svg import BOLD, Drawing, element, text, titled, width, wrapped
from specc.tools.spell import brief, ranges, shape

MARGIN, BETWEEN, STEP = 24.0, 34.0, 30.0
TOWER = boxes.BOX
COLOURS = 6  # of kinds of layers, in turn
CELL = 2.0  # pixels of a token in a mask's square


def draw(model: Model) -> Drawing:
    """Everything, with a margin around it."""
    whole = Drawing()
    y = MARGIN
    for stack in model.stacks:
        tower, embedding = _tower(model, stack)
        cards = [_card(stack, kind, n) for n, kind in enumerate(kinds(stack))]
        whole.put(tower, MARGIN, y)
        heads = len(model.heads) if stack is model.stack else 1
        x = MARGIN + heads * (TOWER + boxes.GAP) + BETWEEN
        top = y + (embedding.height + 26 + BETWEEN if MARGIN + embedding.width > x - BETWEEN else 0)  # below an embedding that is wide
        for card in cards:
            whole.put(card, x, top)
            x += card.width + BETWEEN
        y = max(y + tower.height, *(top + card.height for card in cards)) + 2 * BETWEEN
    whole.width, whole.height = whole.width + MARGIN, y - 2 * BETWEEN + MARGIN
    return whole


def _tower(model: Model, stack: Stack) -> tuple[Drawing, Drawing]:
    """-> from what comes in to what goes out, the layers folded; and of that the embedding."""
    flow = of_formula(stack.embedding.value, stack.embedding.instances)
    embedding, x = boxes.draw(flow, stack.dims, {})
    tower = Drawing()
    heading = f"{stack.name}: " if stack.name else ""
    tower.add(text(0, 12, f"{heading}{_input(stack)}", "label"))
    middle = max(x, TOWER / 2)
    tower.put(embedding, middle - x, 26)
    y = embedding.height + 26
    places = {kind.label: number % COLOURS for number, kind in enumerate(kinds(stack))}
    hidden = shape(("B", "T", stack.dims.dim))
    for group in folded(stack):
        drawn = _group(group, places)
        _arrow(tower, middle, y, y + STEP, hidden)
        tower.put(drawn, middle - drawn.width / 2, y + STEP)
        y += STEP + drawn.height
    if stack.final_norm is not None:
        drawn = boxes.box("final_norm", stack.final_norm, stack.dims)
        _arrow(tower, middle, y, y + STEP, hidden)
        tower.put(drawn, middle - drawn.width / 2, y + STEP)
        y += STEP + drawn.height
    if stack is model.stack:
        _heads(tower, model, stack, middle, y, hidden)
    else:
        _arrow(tower, middle, y, y + STEP, "")
        name = f"memory {shape(('B', 'M', stack.dims.dim))}, to the {model.stacks[-1].name}"
        tower.add(text(middle, y + STEP + 16, name, "label", "middle"))
        tower.height = y + STEP + 24
    return tower, embedding


def _input(stack: Stack) -> str:
    image = stack.dims.image
    return "input_ids [B, T]" if image is None else f"pixel_values {shape(('B', image.channels, *image.size))}"


def _heads(tower: Drawing, model: Model, stack: Stack, middle: float, y: float, hidden: str) -> None:
    """The heads beside one another, each with what it gives."""
    x = middle - boxes.BOX / 2
    for number, head in enumerate(model.heads):
        drawn = boxes.box(head.path, head.component, head.dims(stack.dims))
        center = x + boxes.BOX / 2
        if number == 0:
            _arrow(tower, center, y, y + STEP, hidden)
        else:
            tower.add(
                element(
                    "path",
                    d=f"M{middle:.1f} {y + STEP / 2:.1f}H{center - 6:.1f}q6 0 6 6V{y + STEP - 1:.1f}",
                    class_="edge",
                    marker_end="url(#arrow)",
                )
            )
        tower.put(drawn, x, y + STEP)
        for line, name in enumerate(head.component.outputs):
            told = f"{name} {_output(head, name, stack)}"
            tower.add(text(center, y + 2 * STEP + drawn.height + 12 + 16 * line, told, "label", "middle"))
        _arrow(tower, center, y + STEP + drawn.height, y + 2 * STEP + drawn.height - 4, "")
        tower.height = max(tower.height, y + 2 * STEP + drawn.height + 16 * len(head.component.outputs))
        tower.width = max(tower.width, x + boxes.BOX)
        x += boxes.BOX + boxes.GAP


def _output(head: Instance, name: str, stack: Stack) -> str:
    symbols = {"batch": "B", "sequence": "T"}
    return shape([symbols.get(extent, extent) for extent in head.component.output_shape(name, head.dims(stack.dims))])


def _arrow(drawing: Drawing, x: float, top: float, bottom: float, label: str) -> None:
    drawing.add(element("path", d=f"M{x:.1f} {top:.1f}V{bottom - 1:.1f}", class_="edge", marker_end="url(#arrow)"))
    if label:
        drawing.add(text(x + 8, (top + bottom) / 2 + 2, label, "shape"))


def _group(group: Group, places: dict[str, int]) -> Drawing:
    """Runs of layers one under the other, and how often they come."""
    drawing = Drawing(TOWER, 14 + 30 * len(group.runs))
    drawing.add(element("rect", x=0.5, y=0.5, width=TOWER - 1, height=drawing.height - 1, rx=9, class_="group"))
    room = TOWER - 24 - (58 if group.times > 1 else 0)
    for number, run in enumerate(group.runs):
        y = 9 + 30 * number
        drawing.add(element("rect", x=12, y=y, width=room, height=26, rx=6, class_=f"kind k{places[run.label]}"))
        drawing.add(text(22, y + 17, f"{run.count} × {run.label}" if run.count > 1 else run.label, "title"))
    if group.times > 1:
        drawing.add(text(TOWER - 14, drawing.height / 2 + 5, f"× {group.times}", "times", "end"))
    return drawing


def _card(stack: Stack, kind: Kind, number: int) -> Drawing:
    """One kind of layer: which ones they are, position and mask, and the block."""
    layer = kind.layer
    hidden = shape(("B", "T", stack.dims.dim))
    memory = next((i.memory for i in layer.instances if i.memory is not None), stack.dims.dim)
    names = {name: f"{name} {hidden if n == 0 else shape(('B', 'M', memory))}" for n, name in enumerate(layer.block.inputs)}
    flow = of_block(layer.block.inputs, layer.block.body, layer.instances)
    body, x = boxes.draw(flow, stack.dims, names)
    room = max(body.width, 300.0)
    square = _square(stack, kind)
    head = [f"position  {brief(layer.position)}", f"mask  {brief(layer.mask)}", f"block  {layer.block.name}"]
    beside = room - (SIDE * CELL + 20 if square else 0)
    lines = [line for told in head for line in wrapped(told, beside, 11, 3)]
    total = len(stack.layers)
    which = f"{len(kind.numbers)} of {total} layers: {ranges(kind.numbers)}" if total > len(kind.numbers) else f"all {total} layers"
    which += "; its numbers vary from layer to layer" if kind.varies else ""
    top = max(46.0 + 15 * len(lines), 34 + SIDE * CELL if square else 0) + 18
    card = Drawing(room + 40, top + body.height + 48)
    card.add(element("rect", x=0.5, y=0.5, width=card.width - 1, height=card.height - 1, rx=12, class_="card"))
    card.add(element("rect", x=20, y=18, width=12, height=12, rx=3, class_=f"kind k{number % COLOURS}"))
    card.add(text(40, 29, kind.label, "name"), text(50 + BOLD * width(kind.label, 15), 29, which, "muted"))
    card.parts += [text(20, 50 + 15 * n, line, "fields") for n, line in enumerate(lines)]
    if square:
        card.put(square, card.width - 20 - square.width, 38)
    left = 20 + (room - body.width) / 2 if body.width > 200 else 20.0
    card.put(body, left, top)
    _arrow(card, left + x, top + body.height, top + body.height + 24, "")
    card.add(text(left + x + 8, top + body.height + 20, hidden, "shape"))
    return card


def _square(stack: Stack, kind: Kind) -> Drawing | None:
    """The mask of a kind of layer: a row for each query, a column for each key."""
    found = picture(kind.layer.mask, stack.dims.context)
    return None if found is None else mask_square(found.rows, CELL, found.tokens)


def mask_square(rows: tuple[tuple[bool, ...], ...], cell: float, tokens: int | None) -> Drawing:
    """What is seen, filled; runs of it as one rectangle each."""
    side = cell * len(rows)
    drawing = Drawing(side, side)
    parts = element("rect", x=0, y=0, width=side, height=side, class_="unseen")
    path = ""
    for number, row in enumerate(rows):
        at = 0
        while at < len(row):
            end = at
            while end < len(row) and row[end] == row[at]:
                end += 1
            if row[at]:
                path += f"M{at * cell:g} {number * cell:g}h{(end - at) * cell:g}v{cell:g}h{(at - end) * cell:g}z"
            at = end
    parts += element("path", d=path, class_="seen")
    drawing.add(titled(parts, f"queries down, keys across{f', {tokens:,} tokens' if tokens else ''}"))
    return drawing
