"""What the layers of a stack are called with: tables, mask, past; and how the layers differ in that."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from specc.backends.torch.contract import MIXES
from specc.backends.torch.numbers import Owner
from specc.backends.torch.schemes import Schemes
from specc.backends.torch.view import Page, View
from specc.ir.model import Instance, Layer, Stack
from specc.ir.node import Input
from specc.ir.wiring import Call, calls


@dataclass
class Layers:
    """A stack's layers on a page. Equal layers are looked at once: a list "for each distinct layer" is in their order."""

    page: Page
    stack: Stack
    apart: bool = False  # whether another stack of the file has other position schemes
    shown: frozenset[int] = frozenset()  # the numbers of the layers whose attention maps are outputs
    distinct: list[Layer] = field(default_factory=list)
    sequence: list[int] = field(default_factory=list)  # for every layer, the number of its like in `distinct`
    showing: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        by_id: dict[tuple[int, bool], int] = {}
        by_value: dict[Layer, int] = {}
        shown = self._giving()
        some = 0 < len(shown) < len(self.stack.layers)
        for number, layer in enumerate(self.stack.layers):
            key = id(layer), number in shown
            if key not in by_id:
                named = layer.model_copy(update={"label": f"shown_{layer.label}"}) if some and number in shown else layer
                by_id[key] = by_value.setdefault(named, len(by_value))
            self.sequence.append(by_id[key])
        self.distinct = list(by_value)
        self.showing = {n for number, n in enumerate(self.sequence) if number in shown}  # those of `distinct`

    def _giving(self) -> frozenset[int]:
        """The layers that give their attention maps: where they share weights, all that share those of a wanted one."""
        sets = {self.stack.set_of(number) for number in self.shown}
        return frozenset(number for number in range(len(self.stack.layers)) if self.stack.set_of(number) in sets)

    @property
    def stored(self) -> list[int]:
        """For every set of weights, the number of its layer in `distinct`."""
        if not self.stack.sets:
            return self.sequence
        first = dict(zip(reversed(self.stack.sets), reversed(self.sequence), strict=True))
        return [first[n] for n in range(len(first))]

    # ---- names, which an encoder and a decoder have each of its own

    @property
    def count(self) -> str:
        """The constant that holds how many layers there are."""
        return self._constant("LAYERS")

    @property
    def kinds(self) -> str:
        """The constant that holds the kind of every layer."""
        return self._constant("LAYER_KINDS")

    @property
    def sets(self) -> str:
        """The constant that holds which set of weights is every layer's."""
        return self._constant("LAYER_SETS")

    @property
    def set_kinds(self) -> str:
        return self._constant("SET_KINDS")

    def _constant(self, name: str) -> str:
        return f"{self.stack.name.upper()}_{name}" if self.stack.name else name

    def function(self, name: str) -> str:
        return f"{self.stack.name}_{name}" if self.stack.name else name

    # ---- attention maps

    @property
    def shown_type(self) -> str:
        """The type of the attention map that every layer gives, None where it is not wanted; empty where none is."""
        return "Tensor" if len(self.showing) == len(self.distinct) else "Tensor | None" if self.showing else ""

    @property
    def maps(self) -> str:
        """The expression of those that are wanted."""
        if self._giving() != self.shown:
            return f"tuple(attentions[n] for n in ({', '.join(map(str, sorted(self.shown)))},))"
        return "tuple(attentions)" if self.shown_type == "Tensor" else "tuple(weights for weights in attentions if weights is not None)"

    # ---- state

    def mixing(self, layer: Layer) -> list[Instance]:
        """The sublayers in which tokens of this stack read from one another."""
        return [i for i in layer.instances if i.component.axis in MIXES and i.memory is None]

    @cached_property
    def crossed(self) -> bool:
        """Whether the layers are given the encoder's output."""
        return any(i.memory is not None for layer in self.distinct for i in layer.instances)

    @cached_property
    def state_calls(self) -> list[list[Call]]:
        """For each distinct layer, the calls in its block that leave something in the cache, in order."""
        return [
            [c for a in layer.block.body for c in calls(a.value) if layer.instance(c.instance).component.axis in MIXES]
            for layer in self.distinct
        ]

    @cached_property
    def cached(self) -> bool:
        """Whether one call of the model hands keys and values to the next."""
        return self.stack.causal and any(self.state_calls)

    @cached_property
    def one_state(self) -> bool:
        return all(len(found) == 1 for found in self.state_calls)

    @cached_property
    def schemes(self) -> Schemes:
        """What their position schemes print."""
        return Schemes(self)

    # ---- mask

    def mask(self, n: int) -> View:
        return View(self.page, (self.distinct[n].mask,), Owner(), self.stack.dims)

    @cached_property
    def visible(self) -> list[str]:
        """For each distinct layer the expression that is true where a query sees a key."""
        return [_all_of(self.mask(n).lines("visible")) for n in range(len(self.distinct))]

    @cached_property
    def prepared(self) -> list[str]:
        """The lines that bind what those expressions mention."""
        return list(dict.fromkeys(line for n in range(len(self.distinct)) for line in self.mask(n).lines("prepared")))

    @property
    def counts_anew(self) -> bool:
        """Whether a row may hold several texts."""
        return any(layer.mask.counts_anew for layer in self.distinct)

    @cached_property
    def mask_inputs(self) -> list[Input]:
        """What the masks need from the caller."""
        return list({wanted.name: wanted for layer in self.distinct for wanted in layer.mask.inputs()}.values())

    @cached_property
    def mask_optional(self) -> bool:
        """Whether attention may be called without a mask: every kernel takes that, and no bias has to be carried."""
        parts = [i.component for layer in self.distinct for i in self.mixing(layer)]
        views = [View(self.page, (part,), Owner(), self.stack.dims) for part in parts]
        return not self.showing and all(view.macro("kernel").strip() for view in views) and not any((*self.schemes.biases, *self.schemes.scores))

    @cached_property
    def plain(self) -> list[bool]:
        """For each distinct layer, whether no mask may stand for its own."""
        allowed = self.mask_optional and self.stack.causal and all(self.visible)
        return [allowed and bool(self.mask(n).macro("plain_causal").strip()) for n in range(len(self.distinct))]

    @property
    def mask_type(self) -> str:
        optional = self.mask_optional and (any(self.plain) or not any(self.visible))
        return "Tensor | None" if optional else "Tensor"

    @cached_property
    def masked(self) -> bool:
        """Whether attention is told what to hide or to add."""
        return any(self.state_calls) and (self.stack.padded or any(self.visible) or any(self.schemes.biases))

    # ---- signature

    def beside(self, layer: Layer) -> dict[str, str]:
        """What a layer that reads the encoder's output is called with for that, each with its type."""
        memory = (*layer.block.inputs[1:], "memory")[0]
        return {memory: "Tensor | None", "memory_mask": "Tensor | None"} if self.crossed else {}

    @cached_property
    def parameters(self) -> dict[str, str]:
        """What a layer is called with after x (and the encoder's output), each with its type."""
        found = dict(self.schemes.argument)
        if self.masked:
            found["mask"] = self.mask_type
        if any(re.search(r"\bgrid\b", score) for score in self.schemes.scores):
            found["grid"] = "tuple[int, int]"  # rows and columns of patches
        if any(getattr(part.component, "reads_positions", False) for layer in self.distinct for part in self.mixing(layer)):
            found["positions"] = "Tensor"
        found |= {wanted.name: "Tensor" for wanted in self.mixing_inputs}
        if self.cached:
            found["past"] = "Pair | None" if self.one_state else "tuple[Pair, ...] | None"
        return found

    @cached_property
    def mixing_inputs(self) -> list[Input]:
        """What attentions need from the caller."""
        parts = [part.component for layer in self.distinct for part in self.mixing(layer)]
        return list({wanted.name: wanted for part in parts for wanted in part.inputs()}.values())

    @property
    def single(self) -> dict[str, str]:
        """The types of those arguments of which an attention is given one, and its layer perhaps several."""
        return dict.fromkeys(self.schemes.argument, self.schemes.single) | {"past": "Pair | None"}

    def passed(self, n: int, attention: Instance) -> list[str]:
        """What an attention of a layer is called with after x."""
        names = {name: name for name in self.parameters} | self.schemes.passed(n, attention) | ({"past": "kv"} if attention.shared else {})
        return list(names.values())

    def reads(self, n: int) -> bool:
        """Whether a distinct layer has no keys and values of its own."""
        return any(part.shared for part in self.distinct[n].instances)

    @property
    def entries(self) -> list[int | None]:
        """For every layer the entry of the cache that it reads; None where it makes one of its own."""
        own = [number for number in range(len(self.stack.layers)) if number not in self.stack.sources]
        return [own.index(self.stack.sources[number]) if number in self.stack.sources else None for number in range(len(self.stack.layers))]

    def signature(self, x: str, beside: dict[str, str] | None = None, reads: bool = False, **instead: str) -> str:
        """The arguments of a `forward`. reads: whether it is handed the keys and values of an earlier layer, and keeps none."""
        types = (beside or {}) | self.parameters | {name: type_ for name, type_ in instead.items() if name in self.parameters}
        types = {"kv" if reads and name == "past" else name: "Pair" if reads and name == "past" else type_ for name, type_ in types.items()}
        return ", ".join(["self", f"{x}: Tensor", *(f"{name}: {type_}" for name, type_ in types.items())])


def _all_of(conditions: list[str]) -> str:
    """The conditions joined, as Python wants them."""
    if len(conditions) == 1:
        return conditions[0]
    return " & ".join(text if text.isidentifier() else f"({text})" for text in conditions)
