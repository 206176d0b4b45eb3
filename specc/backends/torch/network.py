"""The model's own class: embedding, layers, final norm and head in one `forward`; or an encoder, a decoder and a head."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from specc.backends.torch.environment import render
from specc.backends.torch.numbers import Owner
from specc.backends.torch.tower import Tower, learned
from specc.backends.torch.training import TrainingText
from specc.backends.torch.view import Page, View, camel
from specc.ir.model import TOKENS, Model
from specc.ir.node import Input


@dataclass(slots=True)
class Head:
    """What the heads print: their modules by key, the lines of `forward`, the fields of Output, and their names."""

    made: list[tuple[str, str]]
    lines: list[str]
    fields: list[str]
    names: tuple[str, ...]


@dataclass(slots=True)
class Network:
    """The model's class over one tower, or over an encoder's and a decoder's."""

    model: Model
    page: Page
    towers: list[Tower]
    training: TrainingText

    @property
    def tower(self) -> Tower:
        """The one that the head reads."""
        return self.towers[-1]

    def head(self) -> Head:
        found = Head([], [], [], tuple(self.model.outputs))
        for part in self.model.heads:
            view = View(self.page, (part.component,), Owner(), part.dims(self.model.stack.dims))
            view.name = self.page.title(view.macro("title").strip(), part.key)
            found.made += [(part.key, made)] if (made := view.construct()) else []
            found.lines += view.lines("apply", f"self.{part.key}")
            found.fields += view.lines("outputs")
        return found

    def count(self) -> int:
        """How many learned numbers the model has."""
        tokens = [i for i in self.model.stack.embedding.instances if i.key == TOKENS and not self.tower.held]
        outside = (*tokens, *self.model.heads)
        return sum(tower.count() for tower in self.towers) + sum(learned(part, self.model.stack.dims) for part in outside)

    def text(self, name: str, head: Head, published: str) -> str:
        made = [*head.made]
        if self.model.encoder is not None:
            return self._two(name, head, made, published)
        context = self.tower.context()
        cached = context["cached"]
        return render(
            "model",
            **context | {"after": context["after"] + made},
            name=name,
            parameters=f"{self.count():,}",
            about=self._about(self.tower.inputs(), context["own_positions"], cached),
            arguments=self._arguments(self.tower.inputs(), context["own_positions"], cached),
            head=head.lines,
            drawn=self.training.drawn,
            training=self.training.lines,
            results=", ".join([*head.names, *["kept"] * cached, *[self.tower.layers.maps] * bool(self.tower.layers.showing), *self.training.results]),
            published=published,
            optional=[(key, parameter.shape) for key, parameter in self.model.parameters().items() if parameter.role == "optional"],
        )

    def _arguments(self, inputs: dict[str, Input], own_positions: bool, cached: bool) -> list[str]:
        """Those of `forward`."""
        source = ["input_ids: Tensor", "attention_mask: Tensor | None = None"] if self.model.stack.padded else ["pixel_values: Tensor"]
        optional = [*inputs, *["position_ids"] * own_positions]
        return ["self", *source, *(f"{name}: Tensor | None = None" for name in optional), *["cache: Cache | None = None"] * cached, *self.training.arguments]

    def _two(self, name: str, head: Head, made: list[tuple[str, str]], published: str) -> str:
        """The classes of an encoder and a decoder, and the model's over them."""
        shared = not self.tower.held
        texts, names = [], {}
        for tower in self.towers:
            names[tower.stack.name] = self.page.title(camel(tower.stack.name), ("tower", tower.stack.name))
            texts.append(self._stack(names[tower.stack.name], tower, shared))
        tokens = [i for i in self.model.stack.embedding.instances if i.key == TOKENS]
        table = [(TOKENS, View(self.page, (i.component,), Owner(), i.dims(self.model.stack.dims)).construct()) for i in tokens if shared]
        model = render(
            "two_stacks",
            name=name,
            parameters=f"{self.count():,}",
            layers=" and ".join(f"{len(tower.stack.layers):,}" for tower in self.towers),
            optional=[(key, parameter.shape) for key, parameter in self.model.parameters().items() if parameter.role == "optional"],
            modules=table + [(stack, f"{class_}()") for stack, class_ in names.items()] + made,
            tokens="self.embed_tokens, " if shared else "",
            head=head.lines,
            losses=" | ".join(self.page.losses),
            drawn=self.training.drawn,
            prepared=self.training.prepared,
            training=self.training.two_lines,
            labels="; ".join(self.training.about),
            results=", ".join([*head.names, "memory", "kept", *self.training.results]),
            published=published,
        )
        return "\n\n\n".join(text.strip() for text in (*texts, model))

    def _stack(self, name: str, tower: Tower, shared: bool) -> str:
        context = tower.context()
        arguments = ["self", *["embed_tokens: nn.Embedding"] * shared, "input_ids: Tensor"]
        about = "input_ids [B, T]; attention_mask [B, T], 1 for a real token -> [B, T, C]"
        returns = "Tensor"
        if tower.layers.crossed:
            arguments += ["memory: Tensor | None", "memory_mask: Tensor | None"]
            about = "input_ids [B, T]; memory [B, M, C], its real tokens shown by memory_mask [B, 1, 1, M] -> [B, T, C], cache"
            returns = "tuple[Tensor, Cache]"
        arguments += ["attention_mask: Tensor | None", *["cache: Cache | None"] * context["cached"]]
        return render("stack", **context, name=name, arguments=", ".join(arguments), returns=returns, docstring=about)

    def _about(self, inputs: dict[str, Input], own_positions: bool, cached: bool) -> list[str]:
        """The docstring of `forward`, line by line."""
        if image := self.model.stack.dims.image:
            height, width = image.size
            pixels = f"pixel_values [B, {image.channels}, height, width]; made for {height} times {width} pixels"
            return textwrap.wrap("; ".join([pixels, *self.training.about]) + ".", 106)
        parts = ["input_ids [B, T]", f"attention_mask [B, {'S' if cached else 'T'}], 1 for a real token"]
        for wanted in inputs.values():
            extents = ", ".join("T" if extent == "S" and not cached else str(extent) for extent in wanted.shape)
            parts.append(f"{wanted.name} [{extents}]{', ' * bool(wanted.about)}{wanted.about}{', counted by the mask where not given' * (wanted.values == 'positions')}")
        parts += ["position_ids [B, T], counted by the mask where not given"] * own_positions
        parts += ["cache as the last call returned it"] * cached + self.training.about
        return textwrap.wrap("; ".join(parts) + ".", 106)
