"""Which tensors a weights map names for each parameter: rules matched against state-dict keys, placeholders filled in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specc.diagnostics.finding import fail
from specc.ir.weights import Batched, Fused, Gathered, Row, Source, Stacked, Transpose, WeightMap, WeightRule


@dataclass(frozen=True, slots=True)
class Stack:
    """One of several equal slices of a tensor along its first axis."""

    number: int
    count: int
    flat: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way a parameter may be stored. `names` are alternatives without root.

    For a part of a fused tensor, `parts` holds each part's name and state-dict key in the tensor's order.
    """

    names: tuple[str, ...]
    transposed: bool
    part: str | None = None
    parts: tuple[tuple[str, str], ...] = ()
    groups: int = 1
    stack: Stack | None = None
    batched: bool = False
    row: bool = False
    gathered: bool = False


@dataclass(frozen=True, slots=True)
class _Rule:
    own: tuple[str, ...]
    names: tuple[str, ...]
    transposed: bool
    order: tuple[str, ...]
    groups: int
    stacked: Stacked | None = None
    batched: bool = False
    row: bool = False
    gathered: bool = False

    @property
    def head(self) -> tuple[str, ...]:
        """The rule's own parts up to the label of a fused tensor; a label may be followed by `weight` or `bias`."""
        if not self.order:
            return self.own
        return self.own[:-2] if self.own[-1] in ("weight", "bias") else self.own[:-1]

    def fits(self, template: tuple[str, ...]) -> bool:
        """Whether the key begins with this rule's own parts; numbers of the key stand as `#` in the template."""
        if len(template) < len(self.own):
            return False
        head = self.head
        if any(t != "#" if o[0] == "{" else t != o for o, t in zip(head, template, strict=False)):
            return False
        return not self.order or (template[len(head)] in self.order and template[len(head) + 1 : len(self.own)] == self.own[len(head) + 1 :])

    def candidate(self, key: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> Candidate | None:
        bound: dict[str, str] = {}
        for own, part in zip(self.own, key, strict=False):
            if own[0] == "{" and bound.setdefault(own, part) != part:
                return None
        size = len(self.own)
        rest = "".join(f".{part}" for part in key[size:])
        names = []
        for name in self.names:
            for placeholder, number in bound.items():
                name = name.replace(placeholder, number)
            names.append(name + rest)
        stack = self._stack(key, counts)
        if not self.order:
            return Candidate(tuple(names), self.transposed, stack=stack, batched=self.batched, row=self.row, gathered=self.gathered)
        at = len(self.head)
        parts = tuple((part, ".".join([*key[:at], part, *key[at + 1 :]])) for part in self.order)
        return Candidate(tuple(names), self.transposed, key[at], parts, self.groups, stack)

    def _stack(self, key: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> Stack | None:
        """Which slice of a stacked tensor the key is: the last placeholder counts them."""
        if self.stacked is None:
            return None
        at = max(n for n, part in enumerate(self.own) if part[0] == "{")
        return Stack(int(key[at]), counts[key[:at]], self.stacked.flat)


def candidates(weight_map: WeightMap, keys: Iterable[str]) -> dict[str, list[Candidate]]:
    """For each key the ways its tensor may be stored: the rule that names most of the key first, then as written."""
    rules = sorted((_prepare(rule) for rule in weight_map.rules), key=lambda rule: -len(rule.own))
    fitting: dict[tuple[str, ...], list[_Rule]] = {}  # a hundred layers have the same few templates
    counts = _counts(keys) if any(rule.stacked for rule in rules) else {}
    found = {}
    for key in keys:
        parts = tuple(key.split("."))
        template = tuple("#" if part.isdigit() else part for part in parts)
        if template not in fitting:
            fitting[template] = [rule for rule in rules if rule.fits(template)]
        found[key] = [c for rule in fitting[template] if (c := rule.candidate(parts, counts)) is not None]
    return found


def _counts(keys: Iterable[str]) -> dict[tuple[str, ...], int]:
    """How many numbered things stand under each beginning of a key."""
    found: dict[tuple[str, ...], set[str]] = {}
    for key in keys:
        parts = tuple(key.split("."))
        for at, part in enumerate(parts):
            if part.isdigit():
                found.setdefault(parts[:at], set()).add(part)
    return {place: len(numbers) for place, numbers in found.items()}


def _prepare(rule: WeightRule) -> _Rule:
    source: Source = rule.source
    order, groups, transposed = (), 1, False
    if isinstance(source, Fused):
        order, groups, source = source.order, source.groups, source.of
    if isinstance(source, Transpose):
        transposed, source = True, source.of
    stacked = None
    if isinstance(source, Stacked):
        stacked, source = source, source.of
    batched = isinstance(source, Batched)
    row, gathered = isinstance(source, Row), isinstance(source, Gathered)
    if batched or row or gathered:
        source = source.of
    numbered = any(part[0] == "{" for part in rule.own.split("."))
    deeper = isinstance(source, Fused | Transpose | Stacked | Batched | Row | Gathered)
    if deeper or (stacked is not None and not numbered) or ((batched or row or gathered) and (order or stacked)) or ((row or gathered) and transposed):
        raise fail(
            "WGT015",
            f"the weights rule for `{rule.own}` nests in a way that specc cannot undo",
            help="write fused(transpose(stacked(name)), order: [...]): each once, in this order, and `stacked` for a numbered part; "
            "`batched` stands around a name, in `transpose` or alone, and `row` and `gathered` stand alone around one",
        )
    return _Rule(tuple(rule.own.split(".")), source.names, transposed, order, groups, stacked, batched, row, gathered)
