"""The model's own class: embedding, layers, final norm and head in one `forward`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specc.backends.torch.environment import render
from specc.backends.torch.formula import Called, Formula
from specc.backends.torch.frame import Frame
from specc.backends.torch.layers import Layers
from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View
from specc.ir.model import Instance, Model
from specc.ir.node import Dims
from specc.ir.wiring import Call


@dataclass(slots=True)
class Head:
    """What the head prints: its module, the lines of `forward`, the fields of Output, and their names."""

    made: str
    lines: list[str]
    fields: list[str]
    names: tuple[str, ...]


@dataclass(slots=True)
class Network:
    model: Model
    page: Page
    layers: Layers
    frame: Frame
    dropout: str

    def head(self) -> Head:
        (part,) = self.model.heads
        view = self._view(part)
        view.name = self.page.title(view.macro("title").strip(), "head")
        return Head(view.construct(), view.lines("apply"), view.lines("outputs"), part.component.outputs)

    def _view(self, part: Instance) -> View:
        return View(self.page, (part.component,), Owner(), part.dims(self.model.stack.dims))

    def _embedding(self) -> tuple[list[tuple[str, str]], list[str]]:
        """The modules, and the lines that bind x."""
        embedding, modules = self.model.stack.embedding, []
        for part in embedding.instances:
            view = self._view(part)
            made = view.construct() if part.component.axis == "embed" else view.construct([view.width_in])
            modules += [(part.key, made)] if made else []

        def call(call: Call, inputs: list[str]) -> Called:
            part = embedding.instance(call.instance)
            if part.component.axis != "embed":
                return Called(f"self.{part.key}({', '.join(inputs)})")
            return Called(self._view(part).apply(f"self.{part.key}", ", ".join(inputs)))

        formula = Formula(call)
        formula.bind("x", embedding.value)
        return modules, formula.lines + [f"x = F.dropout(x, {self.dropout}, self.training)"] * bool(self.dropout)

    def text(self, name: str, head: Head, published: str) -> str:
        layers, stack = self.layers, self.model.stack
        before, embedding = self._embedding()
        after = [("head", head.made)] if head.made else []
        if stack.final_norm is not None:
            view = View(self.page, (stack.final_norm,), Owner(), stack.dims)
            after.insert(0, ("final_norm", view.construct([view.width_in])))
        blocks = self.frame.made()
        tables, rope = self.frame.tables() if "rope" in layers.parameters else ([], "")
        masks, mask = self.frame.masks() if "mask" in layers.parameters else ([], "")
        passed = ["x", *filter(None, (rope, mask)), *["past"] * layers.cached]
        over = {"kind": "LAYER_KINDS"} if {"ropes[kind]", "masks[kind]"} & set(passed) else {}
        over |= {"layer": "self.layers"} | ({"past": "cache or [None] * LAYERS"} if layers.cached else {})
        inputs = self._inputs()
        return render(
            "model",
            name=name,
            layers=f"{len(stack.layers):,}",
            width=f"{stack.dims.dim:,}",
            parameters=f"{self._count():,}",
            before=before,
            after=after,
            blocks=blocks,
            inputs=inputs,
            causal=stack.causal,
            cached=layers.cached,
            needs=self._needs([*embedding, *tables, *masks]),
            past_length=self._past_length(),
            embedding=embedding,
            tables=tables,
            masks=masks,
            loop_names=", ".join(over),
            loop_values=f"zip({', '.join(over.values())}, strict=True)" if len(over) > 1 else over["layer"],
            passed=", ".join(passed),
            final_norm=stack.final_norm is not None,
            head=head.lines,
            results=", ".join([*head.names, *["kept"] * layers.cached]),
            published=published,
        )

    def _inputs(self) -> list[str]:
        """What the caller may give beside the tokens; zeros where not."""
        given = (i.name for part in self.model.stack.embedding.instances for i in part.component.inputs())
        return [name for name in dict.fromkeys(given) if name != "input_ids"]

    def _needs(self, lines: list[str]) -> dict[str, bool]:
        """Which of the frame's values are mentioned, and so have to be computed."""
        said = " ".join(lines)
        needs = {
            name: re.search(rf"(?<![.\w]){name}\b", said) is not None for name in ("positions", "key_positions", "dtype", "new", "total")
        }
        counted = self.model.stack.causal and (needs["positions"] or needs["key_positions"])
        return needs | {"new": needs["new"] or counted, "total": needs["total"] or counted}

    def _past_length(self) -> str:
        if self.layers.one_state:
            return "cache[0][0].shape[2]"
        first = next((i for i, n in enumerate(self.layers.sequence) if self.layers.state_calls[n]), 0)
        return f"cache[{first}][0][0].shape[2]"

    def _count(self) -> int:
        """How many learned numbers the model has; layers that are alike are counted once and multiplied."""
        dims, layers = self.model.stack.dims, self.layers
        each = [sum(_learned(part, dims) for part in layer.instances) for layer in layers.distinct]
        outside = sum(_learned(part, dims) for part in (*self.model.stack.embedding.instances, *self.model.heads))
        norm = self.model.stack.final_norm
        return outside + sum(each[n] for n in layers.sequence) + (sum(p.size for p in norm.parameters(dims)) if norm else 0)


def _learned(part: Instance, dims: Dims) -> int:
    return sum(p.size for p in part.parameters(dims) if p.role != "fixed")
