"""Which tensors a weights map names for each parameter: rules matched against state-dict keys, placeholders filled in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specc.diagnostics.finding import fail
from specc.ir.weights import Fused, Source, Transpose, WeightMap, WeightRule


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


@dataclass(frozen=True, slots=True)
class _Rule:
    own: tuple[str, ...]
    names: tuple[str, ...]
    transposed: bool
    order: tuple[str, ...]
    groups: int

    def fits(self, template: tuple[str, ...]) -> bool:
        """Whether the key begins with this rule's own parts; numbers of the key stand as `#` in the template."""
        if len(template) < len(self.own):
            return False
        head = self.own[:-1] if self.order else self.own
        if any(t != "#" if o[0] == "{" else t != o for o, t in zip(head, template, strict=False)):
            return False
        return not self.order or template[len(head)] in self.order

    def candidate(self, key: tuple[str, ...]) -> Candidate | None:
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
        if not self.order:
            return Candidate(tuple(names), self.transposed)
        parts = tuple((part, ".".join([*key[: size - 1], part]) + rest) for part in self.order)
        return Candidate(tuple(names), self.transposed, key[size - 1], parts, self.groups)


def candidates(weight_map: WeightMap, keys: Iterable[str]) -> dict[str, list[Candidate]]:
    """For each key the ways its tensor may be stored: the rule that names most of the key first, then as written."""
    rules = sorted((_prepare(rule) for rule in weight_map.rules), key=lambda rule: -len(rule.own))
    fitting: dict[tuple[str, ...], list[_Rule]] = {}  # a hundred layers have the same few templates
    found = {}
    for key in keys:
        parts = tuple(key.split("."))
        template = tuple("#" if part.isdigit() else part for part in parts)
        if template not in fitting:
            fitting[template] = [rule for rule in rules if rule.fits(template)]
        found[key] = [c for rule in fitting[template] if (c := rule.candidate(parts)) is not None]
    return found


def _prepare(rule: WeightRule) -> _Rule:
    source: Source = rule.source
    order, groups, transposed = (), 1, False
    if isinstance(source, Fused):
        order, groups, source = source.order, source.groups, source.of
    if isinstance(source, Transpose):
        transposed, source = True, source.of
    if isinstance(source, Fused | Transpose):
        raise fail(
            "WGT015",
            f"the weights rule for `{rule.own}` nests in a way that specc cannot undo",
            help="write fused(transpose(name), order: [...]): fused outside, transpose inside, each once",
        )
    return _Rule(tuple(rule.own.split(".")), source.names, transposed, order, groups)
