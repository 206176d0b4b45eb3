"""One attempt to place a model's parameters in a checkpoint; gathers all that does not fit before it fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from specc.diagnostics.finding import Report
from specc.ir.node import Parameter
from specc.ir.weights import spellings
from specc.weights.checkpoint import Checkpoint
from specc.weights.equal import same_bytes
from specc.weights.rules import Candidate
from specc.weights.safetensors import TensorInfo
from specc.weights.stored import Part, Placement, Stored, swapped
from specc.weights.wording import counted, listed, sizes

FLOATS = ("F32", "F16", "BF16", "F64")
# For each code what is wrong with the things listed after it, and what would be right.
_FINDINGS = {
    "WGT011": ("{n} of the model without a tensor", "parameter", "use the checkpoint of this very model, or correct its `weights` rules"),
    "WGT010": (
        "{n} of the checkpoint that the model does not use",
        "tensor",
        "map them, or list them under `ignore` if they are of no use",
    ),
    "WGT012": ("{n} of another shape than the model's", "tensor", "correct the model's sizes, or use the checkpoint that has them"),
    "WGT013": ("{n} that should repeat another one and differs from it", "tensor", "a tied copy must equal its original bit for bit"),
    "WGT014": ("{n} that cannot be cut into parts of the model", "fused tensor", "list under `order` the parts that the tensor holds"),
    "WGT016": ("{n} of a type that is no floating-point number", "tensor", f"specc reads parameters of type {', '.join(FLOATS)}"),
}


@dataclass(slots=True)
class Placing:
    """The work of `place` once the layout is known."""

    parameters: Mapping[str, Parameter]
    checkpoint: Checkpoint
    layout: str
    ways: Mapping[str, list[Candidate]]
    root: str = ""
    ignore: Iterable[str] = ()
    used: dict[str, None] = field(default_factory=dict)
    compared: set[tuple[str, str]] = field(default_factory=set)
    wrong: dict[str, dict[str, None]] = field(default_factory=dict)  # code -> what to list, each once

    def run(self) -> Placement:
        stored = {}
        for key, parameter in self.parameters.items():
            gathered = [way for way in self.ways[key] if way.gathered]
            if gathered:
                stored[key] = self._gathered(key, parameter, gathered[0])
            elif (found := self._find(key, self.ways[key])) is not None:
                stored[key] = self._stored(key, parameter, *found)
            elif parameter.role != "optional":
                self._note("WGT011", f"`{key}`{self._looked(key, self.ways[key])}")
        self._left_over()
        self._raise()
        files = tuple(dict.fromkeys(file for s in stored.values() for file in s.files))
        return Placement(self.layout, stored, files, {file: self.checkpoint.names.get(file, file.name) for file in files})

    def _gathered(self, key: str, parameter: Parameter, way: Candidate) -> Stored:
        """A parameter whose rows lie in tensors of their own."""
        pieces = []
        for row in range(parameter.shape[0]):
            numbered = replace(way, names=tuple(name.replace("{r}", str(row)) for name in way.names), gathered=False)
            if (found := self._find(key, [numbered])) is None:
                self._note("WGT011", f"`{key}`, its row {row}{self._looked(key, [numbered])}")
                continue
            pieces.append(self._stored(f"{key}[{row}]", replace(parameter, shape=parameter.shape[1:]), *found).tensor)
        if len({piece.dtype for piece in pieces}) > 1:
            self._note("WGT016", f"`{key}` (rows of different types)")
        first = pieces[0] if pieces else TensorInfo(key, Path(), "F32", parameter.shape, 0, 0)
        return Stored(first, pieces=tuple(pieces))

    def _looked(self, key: str, ways: list[Candidate]) -> str:
        if not ways:
            return " (no rule names it)"
        names = [f"`{full}`" for way in ways[:1] for name in way.names if (full := spellings(name, self.root)[0]) != key]
        return f" (looked for {' and '.join(names)})" if names else ""

    def _find(self, key: str, ways: list[Candidate]) -> tuple[Candidate, TensorInfo] | None:
        """The first way whose tensor is present; its other names, where present, must repeat it."""
        for way in ways:
            if present := list(dict.fromkeys(full for name in way.names if (full := self._full(name)) is not None)):
                first = self.checkpoint.tensors[present[0]]
                for name in present[1:]:
                    if (first.name, name) not in self.compared and not same_bytes(first, self.checkpoint.tensors[name]):
                        self._note("WGT013", f"`{name}` (of `{first.name}`)")
                    self.compared.add((first.name, name))  # the parts of a fused tensor all come by here
                self.used.update(dict.fromkeys(present))
                return way, self._slice(key, first, way)
        return None

    def _slice(self, key: str, tensor: TensorInfo, way: Candidate) -> TensorInfo:
        """A stacked tensor's slice, as a tensor of its own; of a batched one all that it holds."""
        stack = way.stack
        if way.row and len(tensor.shape) == 1:
            return replace(tensor, shape=(1, *tensor.shape))
        if way.batched and tensor.shape[:1] == (1,):
            return replace(tensor, shape=tensor.shape[1:])
        if way.batched:
            self._note("WGT012", f"`{tensor.name}` has no first axis of length one: it has {sizes(tensor.shape)}")
        if stack is None:
            return tensor
        first = tensor.shape[0] if tensor.shape else 0
        if (first % stack.count if stack.flat else first != stack.count) or not first:
            self._note("WGT012", f"`{tensor.name}` does not hold {stack.count} equal slices: it has {sizes(tensor.shape)}")
            return tensor
        shape = (first // stack.count, *tensor.shape[1:]) if stack.flat else tensor.shape[1:]
        length = tensor.length // stack.count
        return replace(tensor, name=f"{tensor.name}[{stack.number}]", shape=shape, offset=tensor.offset + stack.number * length, length=length)

    def _full(self, name: str) -> str | None:
        return next((full for full in spellings(name, self.root) if full in self.checkpoint.tensors), None)

    def _stored(self, key: str, parameter: Parameter, way: Candidate, tensor: TensorInfo) -> Stored:
        expected, part = parameter.shape, self._part(way, tensor)
        if part is not None:
            expected = (sum(rows for _, rows in part.rows), *expected[1:])
        transposed = way.transposed and len(expected) > 1
        expected = swapped(expected) if transposed else expected
        if tensor.shape != expected and (part is not None or way.part is None):
            what = f"the tensor `{tensor.name}`" if tensor.name != key else "the tensor"
            self._note("WGT012", f"`{key}`: the model gives {sizes(expected)}, {what} has {sizes(tensor.shape)}")
        if tensor.dtype not in FLOATS:
            self._note("WGT016", f"`{tensor.name}` ({tensor.dtype})")
        return Stored(tensor, transposed, part)

    def _part(self, way: Candidate, tensor: TensorInfo) -> Part | None:
        """The part that the parameter is of a fused tensor; None for a whole tensor, and where the parts do not fit."""
        if way.part is None:
            return None
        known = {key: self.parameters[key].shape for _, key in way.parts if key in self.parameters}
        columns = next(iter(known.values()))[1:]
        problems = []
        for _, key in way.parts:
            if key not in known:
                problems.append(f"the model has no `{key}`")
            elif way.groups and known[key][0] % way.groups:
                problems.append(f"{way.groups} groups do not divide the {known[key][0]} rows of `{key}`")
            elif known[key][1:] != columns:
                problems.append(f"`{key}` is {sizes(known[key])}, and its siblings are [rows, {sizes(columns)[1:]}")
        for problem in problems:
            self._note("WGT014", f"`{tensor.name}`: {problem}")
        groups = way.groups or next(iter(known.values()))[0]  # 0: a row of each part in turn
        return None if problems else Part(way.part, tuple((name, known[key][0]) for name, key in way.parts), groups)

    def _left_over(self) -> None:
        patterns = [re.compile("".join(_pattern(piece) for piece in re.split(r"(\{\w+\}|\*)", ignored))) for ignored in self.ignore]
        for name in self.checkpoint.tensors:
            if name in self.used:
                continue
            spellings = {name, name.removeprefix(self.root)}
            if not any(pattern.fullmatch(spelling) for pattern in patterns for spelling in spellings):
                self._note("WGT010", f"`{name}`")

    def _note(self, code: str, what: str) -> None:
        self.wrong.setdefault(code, {})[what] = None

    def _raise(self) -> None:
        report = Report()
        where = "specc's own layout" if self.layout == "own" else f"`weights {self.layout}`"
        for code, (title, thing, right) in _FINDINGS.items():
            if things := list(self.wrong.get(code, ())):
                report.error(code, f"by {where}, {title.format(n=counted(len(things), thing))}: {listed(things)}", help=right)
        report.raise_errors()


def _pattern(piece: str) -> str:
    if piece == "*":
        return ".*"
    return "[0-9]+" if re.fullmatch(r"\{\w+\}", piece) else re.escape(piece)
