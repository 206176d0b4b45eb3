"""The PyTorch back end: a model as one file of Python that imports only torch."""

from __future__ import annotations

import re
import textwrap

from specc.backends.torch.checkpoint import layouts
from specc.backends.torch.environment import render
from specc.backends.torch.layers import Layers
from specc.backends.torch.layout import fit
from specc.backends.torch.network import Head, Network
from specc.backends.torch.numbers import Constants
from specc.backends.torch.tower import Rates, Tower, build_tower
from specc.backends.torch.training import TrainingText
from specc.backends.torch.view import Page, camel
from specc.components.registry import OF_TRAINING
from specc.ir.model import Model, Training

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
    "L": "latent width",
    "V": "vocabulary",
    "M": "tokens of the encoder",
}


def emit(model: Model, shown: frozenset[int] = frozenset()) -> str:
    """The text of the file, formatted. The same model gives the same bytes.

    shown: the numbers of the layers whose attention maps are outputs.
    """
    page = _page(model)
    rates = _rates(page, model.training)
    towers = [build_tower(model, page, stack, rates, shown) for stack in model.stacks]
    training = TrainingText(model, page)
    network = Network(model, page, towers, training)
    head = network.head()
    visible = [tower.frame.visible() for tower in towers]
    name = camel(model.name)
    if name in _TAKEN or name in page.classes:
        name += "Network"
    published, readers = layouts(model)
    text = network.text(name, head, published)
    defined = page.definitions
    small = [axis for axis in defined if axis not in ("position", "attention", "ffn", "embed", "head", *OF_TRAINING)]  # what the sublayers are made of
    definitions = [
        *defined["position"],
        *visible,
        *(text for axis in (*small, "attention", "ffn") for text in defined[axis]),
        *(text for tower in towers for text in tower.blocks),
        *(text for axis in ("embed", "head", *OF_TRAINING) for text in defined[axis]),
        text,
        render("read"),
        *readers,
    ]
    return _file(model, name, [text.strip() for text in definitions if text.strip()], page, towers, head, training.fields)


def _page(model: Model) -> Page:
    """An empty page that knows every number of the model, and so which of them are the same everywhere."""
    dims = model.stack.dims
    counts = {f"{stack.name.upper()}_LAYERS".removeprefix("_"): len(stack.layers) for stack in model.stacks}
    padded = model.stack.padded
    page = Page(Constants(VOCAB=dims.vocab, CONTEXT=dims.context if padded else None, **counts, WIDTH=dims.dim), padded)
    page.tokens = f"self.{model.tables[model.stack.name]}"
    for stack in model.stacks:
        for layer in stack.distinct:
            for component in (*(i.component for i in layer.instances), layer.position, layer.mask):
                page.declare(component)
        for part in stack.embedding.instances:
            page.declare(part.component)
        if stack is model.stack:
            for head in model.heads:
                page.declare(head.component)
        if stack.final_norm is not None:
            page.declare(stack.final_norm)
    for component in filter(None, (*model.training.objective, model.training.init)):
        page.declare(component)
    return page


def _rates(page: Page, training: Training) -> Rates:
    sublayers = _rate(page, "DROPOUT", training.dropout)
    same = training.embed_dropout == training.dropout
    return Rates(
        sublayers=sublayers,
        embedding=sublayers if same else _rate(page, "EMBED_DROPOUT", training.embed_dropout),
        final=_rate(page, "FINAL_DROPOUT", training.final_dropout),
        attention=_rate(page, "ATTENTION_DROPOUT", training.attention_dropout),
    )


def _rate(page: Page, name: str, rate: float) -> str:
    """A dropout rate as a constant, empty where it is zero."""
    if not rate:
        return ""
    page.constants.declare((name,), rate, line="9 training")
    return str(page.constants.named((name,), (rate,)))


def _file(model: Model, name: str, definitions: list[str], page: Page, towers: list[Tower], head: Head, training: list[str]) -> str:
    code, last = "\n".join(definitions), towers[-1].layers
    memory = ["encoder_last_hidden_state: Tensor | None  # [B, M, C]; None where the encoder did not run"] * last.crossed
    aliases = []
    if re.search(r"\bPair\b", code):
        uses = list(dict.fromkeys(text for tower in towers for text in tower.layers.schemes.contents)) + ["keys and values"] * last.cached
        aliases.append(f"Pair = tuple[Tensor, Tensor]  # {', or '.join(uses)}")
    if last.cached:
        aliases.append(f"Cache = list[{'Pair' if last.one_state else 'tuple[Pair, ...]'}]  # per layer{' that makes keys and values' if last.stack.sources else ''}")
    shapes = set(re.findall(r"\b[A-Z]\b", " ".join(re.findall(r"\[[^\[\]]*\]", "\n".join([code, *head.fields])))))
    text = render(
        "file",
        doc=_doc(model.doc or model.name),
        spec=model.name,
        shapes=textwrap.fill("Shapes: " + ", ".join(f"{s} {meaning}" for s, meaning in _LEGEND.items() if s in shapes) + ".", 118),
        modules=[module for module in ("contextlib", "json", "math", "re") if re.search(rf"(?<![.\w]){module}\.", code)],
        functional=re.search(r"\bF\.", code) is not None,
        constants=[*page.constants.text(), *(line for tower in towers for line in tower.frame.constants())],
        aliases=aliases,
        fields=[*head.fields, *memory, *["cache: Cache"] * last.cached, *_maps(last), *training],
        definitions=definitions,
        name=name,
    )
    return fit(text)


def _maps(layers: Layers) -> list[str]:
    """The field that holds attention maps, where any are wanted."""
    if not layers.showing:
        return []
    all_of = len(layers.shown) == len(layers.stack.layers)
    which = "every layer" if all_of else f"layer{'s' * (len(layers.shown) > 1)} {', '.join(map(str, sorted(layers.shown)))}"
    return [f"attentions: tuple[Tensor, ...]  # of {which}: [B, H, T, {'S' if layers.cached else 'T'}]"]


def _doc(text: str) -> str:
    """Text of the spec, safe inside a docstring."""
    return textwrap.fill(" ".join(text.split()), 116).replace("\\", "\\\\").replace('"', '\\"')
