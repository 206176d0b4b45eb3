"""A stack in the file: its classes, and what its `forward` says from the tokens to the last hidden state."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from specc.backends.torch.blocks import Blocks
from specc.backends.torch.classes import Classes
from specc.backends.torch.formula import Called, Formula
from specc.backends.torch.frame import Frame
from specc.backends.torch.layers import Layers
from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View
from specc.ir.model import TOKENS, Instance, Model, Stack
from specc.ir.node import Dims, Input
from specc.ir.wiring import Call


@dataclass(frozen=True, slots=True)
class Rates:
    """What is dropped in training, as it is printed; empty where nothing is."""

    sublayers: str
    embedding: str
    final: str
    attention: str


@dataclass(slots=True)
class Tower:
    """What one stack prints. `held`: whether the token table is the stack's own, or handed to it by the model."""

    model: Model
    page: Page
    layers: Layers
    frame: Frame
    rates: Rates
    blocks: list[str] = field(default_factory=list)  # the text of each class of layers
    held: bool = True
    suffixes: dict[str, str] = field(default_factory=dict)  # of the functions that the parts of the embedding call

    @property
    def stack(self) -> Stack:
        return self.layers.stack

    def context(self) -> dict[str, Any]:
        """What the template of `forward` and of `__init__` needs."""
        layers, stack = self.layers, self.stack
        before, embedding = self._embedding()
        before += layers.schemes.shared
        after = []
        if stack.final_norm is not None:
            view = View(self.page, (stack.final_norm,), Owner(), stack.dims)
            after.append(("final_norm", view.construct([view.width_in])))
        blocks = self.frame.made()
        tables, table = self.frame.tables() if layers.schemes.argument else ([], "")
        masks, mask = self.frame.masks() if "mask" in layers.parameters else ([], "")
        own = [name for name in ("grid", "positions", *(wanted.name for wanted in layers.mixing_inputs)) if name in layers.parameters]
        passed = ["x", *["memory", "memory_mask"] * layers.crossed, *filter(None, (table, mask)), *own, *["past"] * layers.cached]
        over = {"kind": layers.kinds} if any(text.endswith("[kind]") for text in passed) else {}
        over |= ({"number": layers.sets} if stack.sets else {"layer": "self.layers"}) | self._pasts()
        zeros = {name: zeros_of(wanted) for name, wanted in self.inputs().items() if wanted.values != "positions"}
        counted = {name: f"positions.expand({wanted.shape[0]}, *input_ids.shape)" for name, wanted in self.inputs().items() if name not in zeros}
        needs = self._needs([*embedding, *tables, *masks, *passed, *zeros.values(), *counted.values()])
        # a caller may count positions himself where only queries have them: keys were counted when they were new
        own_positions = layers.counts_anew and stack.causal and needs["positions"] and not needs["key_positions"]
        return {
            "layers": f"{len(stack.layers):,}",
            "width": f"{stack.dims.dim:,}",
            "before": before,
            "after": after,
            "blocks": blocks,
            "tokens": "input_ids" if stack.padded else "x",
            "patch": stack.dims.image.patch if stack.dims.image else None,
            "zeros": zeros,
            "counted": counted,  # inputs that are the counted positions where the caller gives none
            "own_positions": own_positions,
            "causal": stack.causal,
            "cached": layers.cached,
            "shown": layers.shown_type,
            "needs": needs,
            "past_length": self._past_length(),
            "embedding": embedding,
            "tables": tables,
            "masks": masks,
            "layer": "self.layers[number]" if stack.sets else "layer",
            "loop_names": ", ".join(over),
            "loop_values": f"zip({', '.join(over.values())}, strict=True)" if len(over) > 1 else next(iter(over.values())),
            "passed": ", ".join(passed[:-1] if self.stack.sources else passed),
            "entries": len(self.stack.layers) - len(self.stack.sources) if self.stack.sources else 0,
            "final_norm": stack.final_norm is not None,
            "final_dropout": self.rates.final,
        }

    def _view(self, part: Instance) -> View:
        def view(suffix: str) -> View:
            return View(self.page, (part.component,), Owner(), part.dims(self.stack.dims), name=suffix)

        if part.component.axis != "embed":
            return view("")
        if part.path not in self.suffixes:
            self.suffixes[part.path] = self.page.suffix("embed", lambda suffix: view(suffix).macro("definition"))
        return view(self.suffixes[part.path])

    def _embedding(self) -> tuple[list[tuple[str, str]], list[str]]:
        """The modules, and the lines that bind x."""
        embedding, modules = self.stack.embedding, []
        for part in embedding.instances:
            view = self._view(part)
            made = view.construct() if part.component.axis == "embed" else view.construct([view.width_in])
            modules += [(part.key, made)] if made and (self.held or part.key != TOKENS) else []

        def call(call: Call, inputs: list[str]) -> Called:
            part = embedding.instance(call.instance)
            if part.component.axis != "embed":
                return Called(f"self.{part.key}({', '.join(inputs)})")
            module = f"self.{part.key}" if self.held or part.key != TOKENS else part.key
            return Called(self._view(part).apply(module, ", ".join(inputs)))

        formula = Formula(call)
        formula.bind("x", embedding.value)
        return modules, formula.lines + [f"x = F.dropout(x, {self.rates.embedding}, self.training)"] * bool(self.rates.embedding)

    def inputs(self) -> dict[str, Input]:
        """What the caller may give beside the tokens or the pixels; zeros where not."""
        return {name: wanted for name, wanted in self.model.inputs(self.stack).items() if name not in ("input_ids", "pixel_values")}

    def _needs(self, lines: list[str]) -> dict[str, bool]:
        """Which of the frame's values are mentioned, and so have to be computed."""
        said = " ".join(lines)
        needs = {
            name: re.search(rf"(?<![.\w]){name}\b", said) is not None for name in ("positions", "key_positions", "dtype", "new", "total", "batch", "grid")
        }
        counted = self.stack.causal and (needs["positions"] or needs["key_positions"])
        return needs | {"new": needs["new"] or needs["total"] or counted, "total": needs["total"] or counted}

    def _pasts(self) -> dict[str, str]:
        """What the loop over the layers runs over to tell what each has kept, or whose it reads."""
        layers = self.layers
        if not layers.cached:
            return {}
        return {"entry": layers.function("kv_entries").upper()} if self.stack.sources else {"past": f"cache or [None] * {layers.count}"}

    def _past_length(self) -> str:
        layers = self.layers
        if layers.one_state:
            return "cache[0][0].shape[2]"
        for place, n in enumerate(layers.sequence):
            for number, call in enumerate(layers.state_calls[n]):
                if layers.distinct[n].instance(call.instance).memory is None:
                    return f"cache[{place}][{number}][0].shape[2]"
        return "cache[0][0][0].shape[2]"

    def count(self) -> int:
        """How many learned numbers it holds; layers that are alike are counted once and multiplied."""
        stack, layers = self.stack, self.layers
        each = [sum(p.size for part in layer.parameters(stack.dims).values() for p in part if p.role != "fixed") for layer in layers.distinct]
        shared = sum(p.size for parameters in stack.shared().values() for p in parameters)
        outside = sum(learned(part, stack.dims) for part in stack.embedding.instances if self.held or part.key != TOKENS)
        norm = stack.final_norm
        return outside + shared + sum(each[n] for n in layers.stored) + (sum(p.size for p in norm.parameters(stack.dims)) if norm else 0)


def build_tower(model: Model, page: Page, stack: Stack, rates: Rates, shown: frozenset[int]) -> Tower:
    """A stack's classes on the page, and what its `forward` is made of."""
    layers = Layers(page, stack, apart=_differ(model), shown=shown)
    layers.schemes.define()
    classes = Classes(layers, rates.attention)
    classes.define()
    blocks = Blocks(layers, classes, rates.sublayers)
    texts = [blocks.text(group) for group in blocks.groups]
    return Tower(model, page, layers, Frame(layers, blocks), rates, texts, held=model.tables[stack.name] == stack.prefix + TOKENS)


def _differ(model: Model) -> bool:
    """Whether an encoder and a decoder have different position schemes, whose classes and functions have to be told apart."""
    kinds = [{layer.position for layer in stack.distinct} for stack in model.stacks]
    return any(kind != kinds[0] for kind in kinds)


def zeros_of(wanted: Input) -> str:
    """What stands for an input that the caller does not give."""
    if wanted.shape == ("B", "T"):
        return "torch.zeros_like(input_ids)"
    extents = ", ".join({"B": "input_ids.shape[0]", "T": "new", "S": "total"}.get(extent, str(extent)) for extent in wanted.shape)
    return f"input_ids.new_zeros({extents})"


def learned(part: Instance, dims: Dims) -> int:
    return sum(p.size for p in part.parameters(dims) if p.role != "fixed")
