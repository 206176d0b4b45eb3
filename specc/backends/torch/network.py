"""The model's own class: embedding, layers, final norm and head in one `forward`."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from specc.backends.torch.environment import render
from specc.backends.torch.formula import Called, Formula
from specc.backends.torch.frame import Frame
from specc.backends.torch.layers import Layers
from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View
from specc.ir.model import Instance, Model
from specc.ir.node import Dims, Input
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
        before += layers.schemes.shared
        after = [("head", head.made)] if head.made else []
        if stack.final_norm is not None:
            view = View(self.page, (stack.final_norm,), Owner(), stack.dims)
            after.insert(0, ("final_norm", view.construct([view.width_in])))
        blocks = self.frame.made()
        tables, table = self.frame.tables() if layers.schemes.argument else ([], "")
        masks, mask = self.frame.masks() if "mask" in layers.parameters else ([], "")
        passed = ["x", *filter(None, (table, mask)), *["past"] * layers.cached]
        over = {"kind": "LAYER_KINDS"} if any(text.endswith("[kind]") for text in passed) else {}
        over |= ({"number": "LAYER_SETS"} if stack.sets else {"layer": "self.layers"}) | ({"past": "cache or [None] * LAYERS"} if layers.cached else {})
        inputs = self._inputs()
        zeros = {name: zeros_of(wanted) for name, wanted in inputs.items()}
        needs = self._needs([*embedding, *tables, *masks, *zeros.values()])
        # a caller may count positions himself where only queries have them: keys were counted when they were new
        own_positions = layers.counts_anew and stack.causal and needs["positions"] and not needs["key_positions"]
        return render(
            "model",
            name=name,
            layers=f"{len(stack.layers):,}",
            width=f"{stack.dims.dim:,}",
            parameters=f"{self._count():,}",
            before=before,
            after=after,
            blocks=blocks,
            about=self._about(inputs, own_positions),
            arguments=self._arguments(inputs, own_positions),
            tokens="input_ids" if stack.padded else "x",
            patch=stack.dims.image.patch if stack.dims.image else None,
            zeros=zeros,
            own_positions=own_positions,
            causal=stack.causal,
            cached=layers.cached,
            needs=needs,
            past_length=self._past_length(),
            embedding=embedding,
            tables=tables,
            masks=masks,
            layer="self.layers[number]" if stack.sets else "layer",
            loop_names=", ".join(over),
            loop_values=f"zip({', '.join(over.values())}, strict=True)" if len(over) > 1 else next(iter(over.values())),
            passed=", ".join(passed),
            final_norm=stack.final_norm is not None,
            head=head.lines,
            losses=" | ".join(self.page.losses),
            results=", ".join([*head.names, *["kept"] * layers.cached, *["aux_loss"] * bool(self.page.losses)]),
            published=published,
            optional=[(key, parameter.shape) for key, parameter in self.model.parameters().items() if parameter.role == "optional"],
        )

    def _inputs(self) -> dict[str, Input]:
        """What the caller may give beside the tokens or the pixels; zeros where not."""
        return {name: wanted for name, wanted in self.model.inputs().items() if name not in ("input_ids", "pixel_values")}

    def _arguments(self, inputs: dict[str, Input], own_positions: bool) -> list[str]:
        """Those of `forward`."""
        source = ["input_ids: Tensor", "attention_mask: Tensor | None = None"] if self.model.stack.padded else ["pixel_values: Tensor"]
        optional = [*inputs, *["position_ids"] * own_positions]
        return ["self", *source, *(f"{name}: Tensor | None = None" for name in optional), *["cache: Cache | None = None"] * self.layers.cached]

    def _about(self, inputs: dict[str, Input], own_positions: bool) -> list[str]:
        """The docstring of `forward`, line by line."""
        if image := self.model.stack.dims.image:
            height, width = image.size
            return [f"pixel_values [B, {image.channels}, height, width]; made for {height} times {width} pixels."]
        parts = ["input_ids [B, T]", f"attention_mask [B, {'S' if self.layers.cached else 'T'}], 1 for a real token"]
        for wanted in inputs.values():
            extents = ", ".join("T" if extent == "S" and not self.layers.cached else str(extent) for extent in wanted.shape)
            parts.append(f"{wanted.name} [{extents}]{', ' * bool(wanted.about)}{wanted.about}")
        parts += ["position_ids [B, T], counted by the mask where not given"] * own_positions
        parts += ["cache as the last call returned it"] * self.layers.cached
        return textwrap.wrap("; ".join(parts) + ".", 106)

    def _needs(self, lines: list[str]) -> dict[str, bool]:
        """Which of the frame's values are mentioned, and so have to be computed."""
        said = " ".join(lines)
        needs = {
            name: re.search(rf"(?<![.\w]){name}\b", said) is not None for name in ("positions", "key_positions", "dtype", "new", "total", "batch", "rows")
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
        each = [sum(p.size for part in layer.parameters(dims).values() for p in part if p.role != "fixed") for layer in layers.distinct]
        shared = sum(p.size for parameters in layers.stack.shared().values() for p in parameters)
        outside = sum(_learned(part, dims) for part in (*self.model.stack.embedding.instances, *self.model.heads))
        norm = self.model.stack.final_norm
        return outside + shared + sum(each[n] for n in layers.stored) + (sum(p.size for p in norm.parameters(dims)) if norm else 0)


def zeros_of(wanted: Input) -> str:
    """What stands for an input that the caller does not give."""
    if wanted.shape == ("B", "T"):
        return "torch.zeros_like(input_ids)"
    extents = ", ".join({"B": "input_ids.shape[0]", "T": "new", "S": "total"}.get(extent, str(extent)) for extent in wanted.shape)
    return f"input_ids.new_zeros({extents})"


def _learned(part: Instance, dims: Dims) -> int:
    return sum(p.size for p in part.parameters(dims) if p.role != "fixed")
