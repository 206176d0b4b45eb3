"""Published checkpoints: each weight map as a function that prints."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from specc.backends.torch.environment import render
from specc.backends.torch.numbers import literal
from specc.ir.model import Model
from specc.ir.weights import Batched, Fused, Gathered, Row, Source, Stacked, Tensor, Transpose, WeightMap, WeightRule

Shape = tuple[int, ...]
LAYER = re.compile(r"((?:\w+\.)?)layers\.(\d+)\.")  # how the key of a parameter of a layer begins: its stack, its number
NUMBERED = re.compile(r"\.(\d+)\.")
PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(slots=True)
class Lines:
    """What one part of the function takes: statements that split fused tensors, and an entry for every parameter."""

    over: str = ""  # the loop over layers, empty for what stands outside them
    splits: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)
    optional: list[tuple[str, str]] = field(default_factory=list)  # what a checkpoint may lack
    inner: list[Lines] = field(default_factory=list)  # the loops over numbered parts of a layer, its experts


def layouts(model: Model) -> tuple[str, list[str]]:
    """The function that `from_checkpoint` calls for a published layout, empty where there is none, and what it needs."""
    if not model.weights:
        return "", []
    several = len(model.weights) > 1
    names = [f"published_{weights.name}" if several else "published" for weights in model.weights]
    texts = [_Layout(model, weights, keep=several).text(name) for name, weights in zip(names, model.weights, strict=True)]
    return "published", texts + [render("published", layouts=names)] * several


class _Layout:
    def __init__(self, model: Model, weights: WeightMap, keep: bool) -> None:
        self.model, self.keep = model, keep
        self.weights = weights.model_copy(update={"rules": tuple(map(_lettered, weights.rules))})
        self.optional = {key for key, parameter in model.parameters().items() if parameter.role == "optional"}
        self.scattered = False  # whether a part that is taken is not laid out in one piece
        self.whole: list[str] = []  # statements that take a tensor of which a loop inside uses one slice at a time
        self.count = 0  # how often that loop runs

    def text(self, name: str) -> str:
        outer, loops = self._lines()
        roots = list(dict.fromkeys([*self.weights.root, ""]))
        sources = [_tensor(rule.source) for rule in self.weights.rules]
        return render(
            "layout",
            name=name,
            keep=self.keep,
            scattered=self.scattered,
            roots=f"({', '.join(map(literal, roots))})" if len(roots) > 1 else "",
            alternatives=any(len(source.names) > 1 for source in sources),
            ignored=_pattern(self.weights.ignore, [root for root in roots if root]),
            outer=outer,
            loops=loops,
        )

    def _lines(self) -> tuple[Lines, list[Lines]]:
        """What stands outside the layers, and a loop for each set of a stack's layers that holds the same parameters."""
        outer: dict[str, Shape] = {}
        layers: dict[str, list[dict[str, Shape]]] = {stack.prefix: [{} for _ in stack.stored] for stack in self.model.stacks}
        for key, parameter in self.model.parameters().items():
            found = LAYER.match(key)
            if found:
                layers[found[1]][int(found[2])][key[found.end() :]] = parameter.shape
            else:
                outer[key] = parameter.shape
        loops = []
        for stack, (prefix, each) in zip(self.model.stacks, layers.items(), strict=True):
            every = str(len(each)) if stack.sets else f"{prefix[:-1].upper()}_LAYERS".removeprefix("_")
            alike: dict[tuple, list[int]] = {}
            for number, shapes in enumerate(each):
                alike.setdefault(tuple(shapes), []).append(number)
            for numbers in alike.values():
                loops.append(self._layer(f"{prefix}layers.{{i}}.", [each[n] for n in numbers], numbers))
                loops[-1].over = _over(numbers, len(each), every)
        return self._taken("", [outer], [0]), [loop for loop in loops if loop.entries or loop.inner]

    def _layer(self, prefix: str, shapes: list[dict[str, Shape]], numbers: list[int]) -> Lines:
        """A layer's own parameters, and a loop inside for each set of numbered parts that hold the same."""
        plain = [{key: shape for key, shape in at.items() if not NUMBERED.search(key)} for at in shapes]
        lines = self._taken(prefix, plain, numbers)
        alike: dict[str, dict[str, dict[str, None]]] = {}  # where parts stand -> each number -> what it holds
        for key in shapes[0]:
            if found := NUMBERED.search(key):
                alike.setdefault(key[: found.start()], {}).setdefault(found[1], {})[key[found.end() :]] = None
        for place, parts in alike.items():
            first = [{f"{place}.{{e}}.{rest}": at[f"{place}.0.{rest}"] for rest in parts["0"]} for at in shapes]
            self.count = len(parts)
            inner = self._taken(prefix, first, numbers)
            inner.over = f"range({len(parts)})"
            lines.splits += self.whole
            lines.inner.append(inner)
            self.whole = []
        return lines

    def _taken(self, prefix: str, shapes: list[dict[str, Shape]], numbers: list[int]) -> Lines:
        """Statements for the parameters of some place; `shapes` holds them for each layer that the loop runs over."""
        lines, locals_ = Lines(), Counter()
        split: dict[tuple[str, str], str] = {}
        for key, shape in shapes[0].items():
            found = self._rule(prefix + key)
            if found is None:
                continue
            rule, part, rest = found
            exact = part and rule.own.endswith(rest)  # the rule names the weight or the bias itself
            text = self._source(rule.source, "" if exact else rest, len(shape), [at[key][0] for at in shapes], numbers)
            if part:
                order = _fused(rule.source).order
                start = key[: len(key) - len(part + rest)]
                if any(f"{start}{p}{rest}" not in at for p in order for at in shapes):
                    continue  # a tensor of these parts does not exist: loading will say that the parameter is missing
                if (rule.own, rest) not in split:
                    stem = re.sub(r"\W", "_", rest)
                    taken = [f"{re.sub(r'[^a-zA-Z0-9]', '_', p)}{stem}" for p in order]
                    if any(locals_[name] for name in taken):
                        taken = [f"{re.sub(r'[^a-zA-Z0-9]', '_', start)}{name}" for name in taken]
                    locals_.update(taken)
                    rows = [[at[f"{start}{p}{rest}"][0] for p in order] for at in shapes]
                    *before, parts = self._split(rule.source, text, rows, numbers)
                    lines.splits += [*before, f"{', '.join(taken)} = {parts}"]
                    split |= {(rule.own, rest): "", **{(f"{rule.own} {p}", rest): name for p, name in zip(order, taken, strict=True)}}
                text = split[f"{rule.own} {part}", rest]
            (lines.optional if prefix + key in self.optional else lines.entries).append((_formatted(prefix + key), text))
        return lines

    def _rule(self, key: str) -> tuple[WeightRule, str, str] | None:
        """The rule with the longest beginning that covers a parameter; which part of a fused tensor; what follows it."""
        best, length = None, -1
        for rule in self.weights.rules:
            own, end = rule.own, ""
            fused = _fused(rule.source)
            if fused and own.endswith((".weight", ".bias")):
                own, _, last = own.rpartition(".")
                end = f".{last}"
            stem = own.rpartition(".")[0] + "." if fused and "." in own else "" if fused else own
            for part in fused.order if fused else ("",):
                whole = stem + part
                if end:
                    if key == whole + end and len(whole) > length:
                        best, length = (rule, part, end), len(whole)
                    continue
                if (key == whole or key.startswith(whole + ".")) and len(whole) > length:
                    best, length = (rule, part, key[len(whole) :]), len(whole)
        return best

    def _source(self, source: Source, rest: str, rank: int, rows: list[int], numbers: list[int]) -> str:
        """The expression that takes a tensor, turned to this model's orientation; a fused one whole. `rows` of the parameter, by layer."""
        match source:
            case Tensor(names=names):
                return f"take({', '.join(_formatted(name.removeprefix('/') + rest) for name in names)})"
            case Stacked(of=Tensor(names=names), flat=flat):
                return f"{self._slices(names, rest, flat)}[e]"
            case Batched(of=of):
                return f"{self._source(of, rest, rank, rows, numbers)}[0]"
            case Gathered(of=of):
                each = dict(zip(numbers, rows, strict=True))
                count = str(rows[0]) if len(set(rows)) == 1 else f"{{{', '.join(f'{n}: {r}' for n, r in each.items())}}}[i]"
                return f"torch.stack([{self._source(of, rest, rank, rows, numbers)} for r in range({count})])"
            case Row(of=of):
                return f"{self._source(of, rest, rank, rows, numbers)}[None]"
            case Transpose(of=of) if rank == 2 and _fused(of) is None:
                self.scattered = True
                return f"{self._source(of, rest, rank, rows, numbers)}.T"
            case Transpose(of=of) | Fused(of=of):
                return self._source(of, rest, rank, rows, numbers)
        raise AssertionError(source)

    def _slices(self, names: tuple[str, ...], rest: str, flat: bool) -> str:
        """The name of a tensor that holds a slice for each number, taken before the loop over them."""
        *_, above, last = ["", *(names[0] + rest).split(".")]
        name = re.sub(r"\W", "_", f"{above}_{last}" if last in ("weight", "bias") else last)
        opened = f".unflatten(0, ({self.count}, -1))" if flat else ""
        line = f"{name} = take({', '.join(_formatted(n.removeprefix('/') + rest) for n in names)}){opened}"
        if line not in self.whole:
            self.whole.append(line)
        return name

    def _split(self, source: Source, text: str, rows: list[list[int]], numbers: list[int]) -> list[str]:
        """The expression of the parts of a fused tensor, and a line before it where one would not do; `rows` of each part, in each of the layers of these numbers."""
        fused = _fused(source)
        if fused.groups == 0:  # a row of each part in turn
            self.scattered = True
            return [f"({text}[n::{len(fused.order)}] for n in range({len(fused.order)}))"]
        shares = [[count // fused.groups for count in each] for each in rows]
        cut = "split"
        if all(len(set(each)) == 1 for each in shares):
            cut, sizes = "chunk", str(len(fused.order))
        elif all(each == shares[0] for each in shares):
            sizes = _list(shares[0])
        else:
            sizes = f"{{{', '.join(f'{n}: {_list(each)}' for n, each in zip(numbers, shares, strict=True))}}}[i]"
        turned = ".T" * isinstance(source, Transpose)
        self.scattered |= bool(turned)
        if fused.groups == 1 and not turned:
            return [f"{text}.{cut}({sizes})"]
        if fused.groups == 1:
            return [f"(part.T for part in {text}.{cut}({sizes}))"]
        self.scattered = True
        parts = f"parts = {text}.unflatten(0, ({fused.groups}, -1)).{cut}({sizes}, dim=1)"
        return [parts, f"(part.flatten(0, 1){turned} for part in parts)"]


def _fused(source: Source) -> Fused | None:
    while not isinstance(source, (Fused, Tensor)):
        source = source.of
    return source if isinstance(source, Fused) else None


def _tensor(source: Source) -> Tensor:
    while not isinstance(source, Tensor):
        source = source.of
    return source


def _list(values: list[int]) -> str:
    return f"[{', '.join(map(literal, values))}]"


def _formatted(name: str) -> str:
    """A name as a literal; `{i}` is the loop over layers, `{e}` the one inside it."""
    text = literal(name)
    return f"f{text}" if re.search(r"\{[ier]\}", text) else text


def _lettered(rule: WeightRule) -> WeightRule:
    """A rule whose placeholders are called `i` and `e`, whatever the spec calls them."""
    letters = dict(zip(dict.fromkeys(PLACEHOLDER.findall(rule.own)), ("i", "e"), strict=False))

    def renamed(text: str) -> str:
        return PLACEHOLDER.sub(lambda found: "{" + letters.get(found[1], found[1]) + "}", text)

    def source(node: Source) -> Source:
        if isinstance(node, Tensor):
            return node.model_copy(update={"names": tuple(map(renamed, node.names))})
        return node.model_copy(update={"of": source(node.of)})

    return WeightRule(own=renamed(rule.own), source=source(rule.source))


def _over(numbers: list[int], count: int, name: str) -> str:
    """What a loop over layers of these numbers runs over; `name` stands for how many the stack has."""
    if len(numbers) == count:
        return f"range({name})"
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if numbers == list(range(numbers[0], numbers[-1] + 1, step)):
        return f"range({numbers[0]}, {numbers[-1] + 1}{f', {step}' if step > 1 else ''})"
    return f"({', '.join(map(str, numbers))})"


def _pattern(ignore: tuple[str, ...], roots: list[str]) -> str:
    """The regular expression of the tensors that are of no use: `{i}` is a number, `*` anything; with or without a root."""
    if not ignore:
        return ""
    parts = []
    for pattern in ignore:
        pieces = re.split(r"(\{\w+\}|\*)", pattern)
        parts.append("".join(r"\d+" if p.startswith("{") else ".*" if p == "*" else re.escape(p) for p in pieces))
    body = parts[0] if len(parts) == 1 else f"({'|'.join(parts)})"
    start = f"({'|'.join(map(re.escape, roots))})?" if roots else ""
    return f'r"{start}{body}"'
