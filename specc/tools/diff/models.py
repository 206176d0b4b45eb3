"""Two resolved models to a verdict with its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from specc.ir.model import Layer, Model, Stack
from specc.ir.node import Node
from specc.resolve.model import Resolved
from specc.tools.diff import interface, parts
from specc.tools.diff.aside import aside
from specc.tools.diff.facts import Fact
from specc.tools.diff.places import place_of
from specc.tools.diff.published import published
from specc.tools.diff.reason import Difference, Level, Reason, Rule
from specc.tools.diff.tensors import Tensor, grouped, loads
from specc.tools.spell import ranges, shape, spell_both

LIMITS = ("vocab", "context")  # sizes of the stack that change no number by themselves


def compare(old: Resolved, new: Resolved) -> Difference:
    """What became of one model."""
    return _Comparison(old, new).run()


def _pairs(before: tuple[Layer, ...], after: tuple[Layer, ...]) -> Iterable[tuple[tuple[Layer, Layer], list[int]]]:
    """Layers of the same number, those that are alike once, with their numbers."""
    pairs: dict[tuple[int, int], list[int]] = {}
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        pairs.setdefault((id(old), id(new)), []).append(number)
    return [((before[numbers[0]], after[numbers[0]]), numbers) for numbers in pairs.values()]


@dataclass(slots=True)
class _Comparison:
    old: Resolved
    new: Resolved
    reasons: list[Reason] = field(default_factory=list)
    facts: dict[tuple, tuple[Fact, str, list[int]]] = field(default_factory=dict)  # each with its stack and its layers
    tensors: dict[tuple[str, Tensor], list[int]] = field(default_factory=dict)  # by stack, with the layers that hold one each
    names: dict[tuple, list[int]] = field(default_factory=dict)  # pairs of names that mean the same, by stack, with the layers
    at: str = ""  # the stack being compared
    keys: dict[str, str] = field(default_factory=dict)  # the new key of every parameter that is left as it was
    loads: bool = True

    @property
    def models(self) -> tuple[Model, Model]:
        return self.old.model, self.new.model

    def run(self) -> Difference:
        old, new = self.models
        for before, after in self._stacks():
            self.at = after.name
            self._sizes(before, after)
            self._take(parts.around(old, new, before, after), [])
            self._layers(before, after)
        self._state_dict()
        self._numerics()
        where = {"old": self._section(self.old), "new": self._section(self.new)}
        self.reasons += published(old, new, self.keys, where)
        for (stack, what, was, now, inside), numbers in self.names.items():
            path = f"{stack and f'{stack}.'}{f'layers[{self._numbers(numbers, stack)}].' if inside else ''}{what}"
            places = (place_of(side, what, stack=stack) for side in (self.old, self.new))
            self.reasons.append(Reason("names", "renamed", path, was, now, Level.RENAMED, None, *places))
        self.reasons += aside(self.old, self.new)
        level = self._level()
        if level >= Level.COMPUTES or any(fact.level == Level.UNCHANGED for fact, *_ in self.facts.values()):
            for found in (interface.interface, interface.cache, interface.counts):
                self.reasons += found(old, new)
        rules = self._rules() if level == Level.CONVERTIBLE else []
        return Difference(old.name, new.name, level, self.reasons, rules, bool(self.old.definition.parameters))

    def _level(self) -> Level:
        levels = [r.level for r in self.reasons if r.level is not None]
        level = max(levels, default=Level.IDENTICAL)
        computes = any(fact.level == Level.COMPUTES for fact, *_ in self.facts.values())
        if not self.loads and computes:
            return Level.BREAKING
        return max(level, Level.CONVERTIBLE) if not self.loads else level

    @staticmethod
    def _section(side: Resolved) -> str | None:
        section = next(iter(side.body.weights.values()), None)
        return None if section is None else f"{section.span.source.name}:{section.span.line}"

    # ---- what is compared

    def _stacks(self) -> list[tuple[Stack, Stack]]:
        """The stacks of one name; of models of which only one has an encoder, the last ones, and nothing loads."""
        old, new = self.models
        was, now = ([stack.name for stack in model.stacks] for model in (old, new))
        if was == now:
            if old.shared_tokens != new.shared_tokens:
                self.facts["shared_tokens",] = Fact("shared_tokens", (), old.shared_tokens, new.shared_tokens, "/shared_tokens"), "", []
            return list(zip(old.stacks, new.stacks, strict=True))
        self.loads = False
        texts = (" and ".join(names) if len(names) > 1 else "one stack" for names in (was, now))
        self.facts["stacks",] = Fact("stacks", (), *texts, "/stacks"), "", []
        return [(old.stack, new.stack)]

    def _sizes(self, one: Stack, other: Stack) -> None:
        before, after = one.dims, other.dims
        for name in type(before).model_fields:
            old, new = getattr(before, name), getattr(after, name)
            if old == new:
                continue
            level = Level.UNCHANGED if name in LIMITS else Level.COMPUTES
            if isinstance(old, Node) and isinstance(new, Node):  # the picture, which the model states as its `input`
                changed = [part for part in type(old).model_fields if getattr(old, part) != getattr(new, part)]
                found = [Fact("input", (part,), getattr(old, part), getattr(new, part), f"dims/{name}", level) for part in changed]
            else:
                found = [Fact(name, (), old, new, f"dims/{name}", level)]
            self.facts |= {(self.at, name, *fact.fields): (fact, self.at, []) for fact in found}

    def _layers(self, before: Stack, after: Stack) -> None:
        if before.sets == after.sets == ():
            for (old, new), numbers in _pairs(before.layers, after.layers):
                self._take(parts.layers(old, new, before.dims, after.dims), numbers)
        else:  # what layers are, use by use, and what they hold, set by set
            for (old, new), numbers in _pairs(before.layers, after.layers):
                self._take(replace(parts.layers(old, new, before.dims, after.dims), tensors=[]), numbers)
            for (old, new), numbers in _pairs(before.stored, after.stored):
                self._take(parts.Compared(tensors=parts.layers(old, new, before.dims, after.dims).tensors), numbers)
        if before.sets[: len(after.layers)] != after.sets[: len(before.layers)]:
            note = "the same numbers only where layers that share weights on one side have equal ones on the other"
            was, now = (f"{len(stack.stored)} for {len(stack.layers)} layers" for stack in (before, after))
            self.facts[self.at, "sets"] = Fact("sets of weights", (), was, now, "sets", note=note), self.at, []
        common = min(len(before.layers), len(after.layers))
        for number in range(common):
            was, now = (stack.sources.get(number) for stack in (before, after))
            if was != now:
                texts = ["its own" if n is None else f"layer {n}" for n in (was, now)]
                self.facts.setdefault((self.at, "kv_from", *texts), (Fact("kv_from", (), *texts, "kv_from"), self.at, []))[2].append(number)
        shared = min(len(before.stored), len(after.stored))
        for layers, dims, change in ((before.stored, before.dims, "removed"), (after.stored, after.dims, "added")):
            for number, layer in enumerate(layers[shared:], shared):
                self.loads = False
                self._alone(layer, number, dims, change)

    def _alone(self, layer: Layer, number: int, dims, change: str) -> None:
        """A layer that only one side has."""
        for part, parameters in layer.parameters(dims).items():
            for p in parameters:
                key = f"{part}.{p.name}"
                old, new = (key, None) if change == "removed" else (None, key)
                tensor = Tensor(change, old, new, p.shape if old else None, p.shape if new else None, part)
                self.tensors.setdefault((self.at, tensor), []).append(number)

    def _take(self, found: parts.Compared, numbers: list[int]) -> None:
        self.loads = self.loads and loads(found.tensors)
        for fact in found.facts:
            key = (self.at, fact.path, fact.old_place, *spell_both(fact.old, fact.new), fact.level, bool(numbers))
            self.facts.setdefault(key, (fact, self.at, []))[2].extend(numbers)
        for tensor in found.tensors:
            if tensor.change in ("same", "renamed"):
                for prefix in [f"{self._prefix(self.at)}layers.{n}." for n in numbers] or [""]:
                    self.keys[f"{prefix}{tensor.old}"] = f"{prefix}{tensor.new}"
            if tensor.change != "same":
                self.tensors.setdefault((self.at if numbers else "", tensor), []).extend(numbers)
        for name in dict.fromkeys(found.names):
            self.names.setdefault((self.at, *name, bool(numbers)), []).extend(numbers)

    # ---- what is said of it

    @staticmethod
    def _prefix(stack: str) -> str:
        return f"{stack}." if stack else ""

    def _numbers(self, numbers: Iterable[int], stack: str) -> str:
        numbers = list(numbers)
        most = max(len(s.layers) for model in self.models for s in model.stacks if s.name == stack)
        return "i" if len(numbers) == most else ranges(numbers)

    def _numerics(self) -> None:
        for fact, stack, numbers in self.facts.values():
            category = "limits" if fact.level == Level.UNCHANGED and fact.place in LIMITS else "numerics"
            of_model = fact.whole_pointer.startswith("/")
            path = f"layers[{self._numbers(numbers, stack)}].{fact.path}" if numbers else fact.path
            path = path if of_model else f"{self._prefix(stack)}{path}"
            index = next((n for n, s in enumerate(self.new.model.stacks) if s.name == stack), 0)
            pointer = f"layers/{numbers[0]}/{fact.whole_pointer}" if numbers else fact.whole_pointer
            pointer = pointer if of_model else f"/stacks/{index}/{pointer}"
            places = []
            for side, place in ((self.old, fact.old_place or fact.place), (self.new, fact.place)):
                layers = next((s.layers for s in side.model.stacks if s.name == stack), ())
                label = layers[numbers[0]].label if numbers and numbers[0] < len(layers) else None
                places.append(place_of(side, place, fact.fields, label, stack))
            category, change = ("state dict", "retied") if fact.fields == ("tied",) else (category, "changed")
            texts = spell_both(fact.old, fact.new)
            self.reasons.append(Reason(category, change, path, *texts, fact.level, pointer, *places, fact.note))

    def _grouped(self) -> Iterable[tuple[Tensor, str]]:
        """The tensors that differ, each with what stands before its key."""
        sets: dict[tuple[str, tuple[int, ...]], list[Tensor]] = {}
        for (stack, tensor), numbers in self.tensors.items():
            sets.setdefault((stack, tuple(numbers)), []).append(tensor)
        for (stack, numbers), tensors in sets.items():
            text = ranges(numbers)
            prefix = f"{self._prefix(stack)}layers.{text if text.isdigit() else f'{{{text}}}'}." if numbers else ""
            yield from ((tensor, prefix) for tensor in grouped(tensors))

    def _state_dict(self) -> None:
        for tensor, prefix in self._grouped():
            old, new = (None if e is None else shape(e) for e in (tensor.old_shape, tensor.new_shape))
            path, level, note = f"{prefix}{tensor.new or tensor.old}", Level.BREAKING, ""
            if tensor.change == "renamed":
                old, new, level, path = f"{prefix}{tensor.old}", path, Level.CONVERTIBLE, f"{prefix}{tensor.old}"
            elif tensor.fill is not None or not tensor.needed:
                level = Level.CONVERTIBLE if tensor.needed else Level.UNCHANGED
            if tensor.change == "reshaped" and tensor.old != tensor.new:
                note = f"was {prefix}{tensor.old}"
            self.reasons.append(Reason("state dict", tensor.change, path, old, new, level, None, None, None, note))

    def _rules(self) -> list[Rule]:
        found = []
        for tensor, prefix in self._grouped():
            old, new = f"{prefix}{tensor.old}", f"{prefix}{tensor.new}"
            if tensor.change == "renamed":
                found.append(Rule("rename", new, old))
            elif tensor.fill in ("zeros", "ones"):
                found.append(Rule(tensor.fill, new))
            elif tensor.fill == "drop":
                found.append(Rule("drop", old))
            elif tensor.fill is not None:
                found.append(Rule("copy", new, tensor.fill))
        return found
