"""One page about a model that stands alone: picture, masks, parameters, and a calculator for memory. No network."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from pathlib import Path

from specc.ir.model import Model, Stack
from specc.ir.node import Parameter
from specc.tools.analyse import Costs
from specc.tools.draw import figures
from specc.tools.draw.boxes import DRAWN, NUMBERED, count
from specc.tools.draw.folded import kinds
from specc.tools.draw.image import STYLE, inline
from specc.tools.draw.masks import picture
from specc.tools.draw.picture import draw, mask_square
from specc.tools.spell import brief, ranges, shape, size

HERE = Path(__file__).parent
LARGE = 5.5  # pixels of a token in a mask of the page
DEFAULT_TOKENS = 4096


def page(model: Model) -> str:
    """The whole page."""
    costs = Costs(model)
    style = STYLE.read_text(encoding="utf-8") + (HERE / "page.css").read_text(encoding="utf-8")
    body = "".join(
        [
            f"<h1>{escape(model.name)}</h1>",
            f'<p class="doc">{escape(model.doc)}</p>' if model.doc else "",
            _figures(costs),
            f'<h2>Architecture</h2><div class="picture">{inline(draw(model), f"{model.name}, drawn")}</div>',
            _masks(model),
            _parameters(costs),
            _memory(costs),
            _layers(model),
        ]
    )
    script = (HERE / "calculator.js").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(model.name)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n<footer>Drawn by specc from the typed model; every figure is counted."
        f"</footer>\n</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _figures(costs: Costs) -> str:
    model = costs.model
    dims = model.stack.dims
    depth = " + ".join(str(len(stack.layers)) for stack in model.stacks)
    told = [("parameters", count(costs.parameters), f"{costs.parameters:,}")]
    if costs.active != costs.parameters and costs.per_image is None:
        told.append(("active for a token", count(costs.active), f"{costs.active:,}"))
    told += [("layers", depth, ""), ("width", f"{dims.dim:,}", "")]
    told += [("context", f"{dims.context:,}", "")] if dims.context else []
    told += [("vocabulary", f"{dims.vocab:,}", "")] if dims.vocab else []
    told.append(("weights in bf16", size(costs.weight_bytes("bf16")), ""))
    if per_token := costs.kv_cache(1) - costs.kv_cache(0):
        told.append(("cache per token in bf16", size(per_token), ""))
    flops = costs.flops(dims.context or 1) if costs.per_image is None else costs.per_image
    each = "image" if costs.per_image is not None else f"token at {dims.context:,}" if dims.context else "token"
    told.append((f"FLOPs per {each}", count(flops).replace("B", "G"), f"{flops:,}"))
    cells = "".join(f'<div title="{title}"><dt>{escape(name)}</dt><dd>{value}</dd></div>' for name, value, title in told)
    return f'<dl class="figures">{cells}</dl>'


def _masks(model: Model) -> str:
    """Every mask once, with the layers that have it."""
    found: list[tuple[Stack, object, list[str]]] = []
    for stack in model.stacks:
        for kind in kinds(stack):
            known = next((one for one in found if one[0] is stack and one[1] == kind.layer.mask), None)
            if known is None:
                found.append((stack, kind.layer.mask, [kind.label]))
            else:
                known[2].append(kind.label)
    cells = ""
    for stack, mask, labels in found:
        drawn = picture(mask, stack.dims.context)
        if drawn is None:
            continue
        square = inline(mask_square(drawn.rows, LARGE, drawn.tokens), f"the mask {mask.kind}")
        scale = f"{drawn.tokens:,} tokens a side" if drawn.tokens else "not to scale"
        where = f"{stack.name + ': ' if stack.name else ''}{', '.join(labels)}; {scale}"
        cells += f"<figure>{square}<figcaption><code>{escape(brief(mask))}</code><span>{escape(where)}</span></figcaption></figure>"
    return f'<h2>Masks</h2><p class="doc">A row for each query, a column for each key; what is seen is filled.</p><div class="masks">{cells}</div>'


def _parameters(costs: Costs) -> str:
    shares = figures.shares(costs)
    bar = "".join(f'<i class="{_colour(part)}" style="width:{100 * share:.3f}%" title="{part}"></i>' for part, _, share in shares)
    rows = "".join(
        f'<tr><td><i class="swatch {_colour(part)}"></i>{part}</td><td class="n">{number:,}</td><td class="n">{100 * share:.2f} %</td></tr>'
        for part, number, share in shares
    )
    rows += f'<tr><td>all</td><td class="n">{costs.parameters:,}</td><td class="n">100 %</td></tr>'
    weights = "".join(
        f'<tr><td>{dtype}</td><td class="n">{number:,}</td><td class="n">{size(number)}</td></tr>'
        for dtype, number in figures.weights(costs)
    )
    return (
        f'<h2>Parameters</h2><div class="bar">{bar}</div><div class="columns"><table><tr><th>part</th><th class="n">values</th>'
        f'<th class="n">share</th></tr>{rows}</table><table><tr><th>weights in</th><th class="n">bytes</th><th></th></tr>{weights}</table></div>'
    )


def _colour(part: str) -> str:
    """The colour that the part's axis has in the picture."""
    axis = {"embedding": "embed", "final norm": "norm"}.get(part, part)
    return axis if axis in DRAWN else "other"


def _memory(costs: Costs) -> str:
    """The calculator; its figures are checked against specc's own by a test."""
    kept = figures.cache(costs.model)
    data = {"cache": [asdict(one) for one in kept], "stored": costs.stored, "bytes": figures.bytes_per_value()}
    tokens = costs.model.stack.dims.context or DEFAULT_TOKENS
    options = "".join(f"<option>{dtype}</option>" for dtype in figures.DTYPES)
    limits = any(one.reach is not None for one in kept)
    cache = (
        f'<label for="tokens">tokens</label><input id="tokens" name="tokens" type="number" min="0" value="{tokens}">'
        '<label for="sequences">sequences</label><input id="sequences" name="sequences" type="number" min="0" value="1">'
        f'<label for="cache">cache in</label><select id="cache" name="cache">{options}</select>'
    )
    if limits:
        cache += '<label for="reachable">only what masks still reach</label><input id="reachable" name="reachable" type="checkbox">'
    nothing = "" if kept else "<p class=doc>This model keeps nothing from call to call.</p>"
    return (
        f'<h2>Memory</h2>{nothing}<div class="columns"><form id="calculator">{cache if kept else ""}'
        f'<label for="weights">weights in</label><select id="weights" name="weights">{options}</select></form>'
        '<div style="min-width:320px"><div class="total"><output id="all-bytes"></output></div>'
        '<div class="bar" style="margin-top:8px"><i class="weights" id="weights-bar"></i><i class="cache" style="flex:1"></i></div>'
        '<table><tr><td><i class="swatch weights"></i>weights</td><td class="n" id="weights-bytes"></td></tr>'
        '<tr><td><i class="swatch cache"></i>cache</td><td class="n" id="cache-bytes"></td></tr></table></div></div>'
        f'<script type="application/json" id="memory">{json.dumps(data)}</script>'
    )


def _layers(model: Model) -> str:
    """Every tensor of every kind of layer, folded away."""
    parts = ""
    for stack in model.stacks:
        outside = {i.path: i.parameters(stack.dims) for i in stack.embedding.instances} | stack.shared()
        if stack.final_norm is not None:
            outside["final_norm"] = stack.final_norm.parameters(stack.dims)
        parts += _details(f"{stack.name} around the layers".strip(), "", outside)
        for kind in kinds(stack):
            which = f"{len(kind.numbers)} of {len(stack.layers)} layers: {ranges(kind.numbers)}"
            parts += _details(f"{stack.name} {kind.label}".strip(), which, kind.layer.parameters(stack.dims))
    parts += _details("heads", "", {head.path: head.parameters(model.stack.dims) for head in model.heads})
    return f"<h2>Tensors</h2>{parts}"


def _details(title: str, which: str, found: dict[str, tuple[Parameter, ...]]) -> str:
    """A table of tensors; those that differ by a number alone, as experts do, on one line."""
    lines: dict[tuple[str, str], list[int]] = {}
    for key, parameters in found.items():
        for p in parameters:
            lines.setdefault((NUMBERED.sub("[n]", f"{key}.{p.name}"), shape(p.shape)), []).append(p.size)
    rows = "".join(
        f'<tr><td class="mono">{escape(name)}</td><td class="mono">{extents}{f" × {len(sizes)}" if len(sizes) > 1 else ""}</td>'
        f'<td class="n">{sum(sizes):,}</td></tr>'
        for (name, extents), sizes in lines.items()
    )
    if not rows:
        return ""
    head = '<tr><th>tensor</th><th>shape</th><th class="n">values</th></tr>'
    return f"<details><summary>{escape(title)}<span>{escape(which)}</span></summary><table>{head}{rows}</table></details>"
