"""The PyTorch back end: a model as one file of Python that imports only torch."""

from __future__ import annotations

import re
import textwrap

from specc.backends.torch.blocks import Blocks
from specc.backends.torch.checkpoint import layouts
from specc.backends.torch.classes import Classes
from specc.backends.torch.environment import render
from specc.backends.torch.frame import Frame
from specc.backends.torch.layers import Layers
from specc.backends.torch.layout import fit
from specc.backends.torch.network import Head, Network
from specc.backends.torch.numbers import Constants
from specc.backends.torch.view import Page, camel
from specc.ir.model import Model

# Names of the file that no model class may take.
_TAKEN = {"Tensor", "Path", "F", "Pair", "Cache", "Output", "Model", "None", "True", "False"}
_LEGEND = {
    "B": "batch",
    "T": "tokens",
    "S": "all tokens (past and new)",
    "C": "width",
    "H": "heads",
    "K": "key-value heads",
    "D": "head width",
    "P": "relative positions",
    "R": "rotated width",
    "V": "vocabulary",
}


def emit(model: Model) -> str:
    """The text of the file, formatted. The same model gives the same bytes."""
    page = _page(model)
    dropout = _rate(page, "DROPOUT", model.training.dropout)
    layers = Layers(page, model.stack)
    layers.schemes.define()
    classes = Classes(layers, _rate(page, "ATTENTION_DROPOUT", model.training.attention_dropout))
    classes.define()
    blocks = Blocks(layers, classes, dropout)
    block_texts = [blocks.text(group) for group in blocks.groups]
    frame = Frame(layers, blocks)
    network = Network(model, page, layers, frame, dropout)
    head = network.head()
    visible = frame.visible()
    name = camel(model.name)
    if name in _TAKEN or name in page.classes:
        name += "Network"
    published, readers = layouts(model)
    text = network.text(name, head, published)
    defined = page.definitions
    small = [axis for axis in defined if axis not in ("position", "attention", "ffn", "embed", "head")]  # what the sublayers are made of
    definitions = [
        *defined["position"],
        visible,
        *(text for axis in (*small, "attention", "ffn") for text in defined[axis]),
        *block_texts,
        *(text for axis in ("embed", "head") for text in defined[axis]),
        text,
        render("read"),
        *readers,
    ]
    return _file(model, name, [text.strip() for text in definitions if text.strip()], page, frame, head)


def _page(model: Model) -> Page:
    """An empty page that knows every number of the model, and so which of them are the same everywhere."""
    stack = model.stack
    dims = stack.dims
    page = Page(Constants(VOCAB=dims.vocab, CONTEXT=dims.context if stack.padded else None, LAYERS=len(stack.layers), WIDTH=dims.dim), stack.padded)
    for layer in {id(layer): layer for layer in stack.layers}.values():
        for component in (*(i.component for i in layer.instances), layer.position, layer.mask):
            page.declare(component)
    for part in (*stack.embedding.instances, *model.heads):
        page.declare(part.component)
    if stack.final_norm is not None:
        page.declare(stack.final_norm)
    return page


def _rate(page: Page, name: str, rate: float) -> str:
    """A dropout rate as a constant, empty where it is zero."""
    if not rate:
        return ""
    page.constants.declare((name,), rate, line="9 training")
    return str(page.constants.named((name,), (rate,)))


def _file(model: Model, name: str, definitions: list[str], page: Page, frame: Frame, head: Head) -> str:
    code = "\n".join(definitions)
    aliases = []
    if re.search(r"\bPair\b", code):
        uses = frame.layers.schemes.contents + ["keys and values"] * frame.layers.cached
        aliases.append(f"Pair = tuple[Tensor, Tensor]  # {', or '.join(uses)}")
    if frame.layers.cached:
        aliases.append(f"Cache = list[{'Pair' if frame.layers.one_state else 'tuple[Pair, ...]'}]  # per layer")
    shapes = set(re.findall(r"\b[A-Z]\b", " ".join(re.findall(r"\[[^\[\]]*\]", "\n".join([code, *head.fields])))))
    text = render(
        "file",
        doc=_doc(model.doc or model.name),
        spec=model.name,
        shapes=textwrap.fill("Shapes: " + ", ".join(f"{s} {meaning}" for s, meaning in _LEGEND.items() if s in shapes) + ".", 118),
        modules=[module for module in ("contextlib", "json", "math", "re") if re.search(rf"(?<![.\w]){module}\.", code)],
        functional=re.search(r"\bF\.", code) is not None,
        constants=[*page.constants.text(), *frame.constants()],
        aliases=aliases,
        fields=[*head.fields, *["cache: Cache"] * frame.layers.cached, *["aux_loss: Tensor  # what the routers add to the loss"] * bool(page.losses)],
        definitions=definitions,
        name=name,
    )
    return fit(text)


def _doc(text: str) -> str:
    """Text of the spec, safe inside a docstring."""
    return textwrap.fill(" ".join(text.split()), 116).replace("\\", "\\\\").replace('"', '\\"')
