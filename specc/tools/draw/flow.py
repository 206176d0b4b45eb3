"""Dataflow as boxes in rows and columns: what is residual runs straight down in column 0, branches stand beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from specc.ir.model import Instance
from specc.ir.wiring import Add, Assign, Call, Concat, Insert, Ref, Scale, Wire
from specc.tools.spell import spell

Kind = Literal["input", "call", "add", "join", "scale"]


@dataclass(slots=True, eq=False)
class Node:
    """`text`: what is called, or how values are joined. row and col: where it stands, from the top left."""

    kind: Kind
    text: str
    instance: Instance | None = None
    sources: list[tuple[Node, str]] = field(default_factory=list)  # each with a note for the edge, such as a factor
    row: int = 0
    col: int = -1


@dataclass(slots=True)
class Flow:
    """Nodes in an order in which each comes after what it reads; the last value is `output`."""

    nodes: list[Node]
    output: Node

    @property
    def rows(self) -> int:
        return max(node.row for node in self.nodes) + 1

    @property
    def cols(self) -> int:
        return max(node.col for node in self.nodes) + 1

    def reads(self, node: Node) -> list[Node]:
        """What reads a node."""
        return [other for other in self.nodes if any(source is node for source, _ in other.sources)]


def of_block(inputs: Iterable[str], body: Iterable[Assign], instances: Iterable[Instance]) -> Flow:
    """The flow of a block; its value is the last one of its first input."""
    reader = _Reader({i.path: i for i in instances})
    names = list(inputs)
    for name in names:
        reader.bound[name] = reader.add(Node("input", name))
    for assign in body:
        reader.bound[assign.name] = reader.node(assign.value)
    return _placed(reader.nodes, reader.bound[names[0]], residual=True)


def of_formula(value: Wire, instances: Iterable[Instance]) -> Flow:
    """The flow of an embedding's formula."""
    reader = _Reader({i.path: i for i in instances})
    return _placed(reader.nodes, reader.node(value), residual=False)


@dataclass(slots=True)
class _Reader:
    instances: dict[str, Instance]
    nodes: list[Node] = field(default_factory=list)
    bound: dict[str, Node] = field(default_factory=dict)

    def add(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def node(self, wire: Wire) -> Node:
        match wire:
            case Ref(name=name):
                return self.bound[name]
            case Call(instance=path, inputs=inputs):
                sources = [self._edge(w) for w in inputs]
                return self.add(Node("call", path, self.instances.get(path), sources))
            case Add(terms=terms):
                return self.add(Node("add", "+", None, [self._edge(w) for w in terms]))
            case Concat(parts=parts):
                return self.add(Node("join", "concat", None, [self._edge(w) for w in parts]))
            case Insert(what=what, at=at, into=into):
                return self.add(Node("join", f"insert at {at}", None, [self._edge(into), self._edge(what)]))
            case Scale(factor=factor, of=of):
                return self.add(Node("scale", f"× {spell(factor)}", None, [self._edge(of)]))
        raise AssertionError(wire)

    def _edge(self, wire: Wire) -> tuple[Node, str]:
        """A source, a factor in front of it as a note on the edge."""
        if isinstance(wire, Scale):
            source, note = self._edge(wire.of)
            return source, f"× {spell(wire.factor)}{f' {note}' if note else ''}"
        return self.node(wire), ""


def _placed(nodes: list[Node], output: Node, residual: bool) -> Flow:
    for node in nodes:
        node.row = 1 + max((source.row for source, _ in node.sources), default=-1)
    spine = _spine(output, residual)
    for node in spine:
        node.col = 0
    _lower(nodes)
    columns = _Columns(nodes)
    for node in reversed(spine):  # from the top
        for source, _ in node.sources:
            columns.place(source, 1)
    for node in nodes:  # what no value reads: a second input that the block leaves alone
        columns.place(node, 1)
    return Flow(nodes, output)


def _spine(output: Node, residual: bool) -> list[Node]:
    """From the output back: along the first value of each sum, or along what is residual, the term that comes from furthest up."""
    found = [output]
    while found[-1].sources:
        sources = [source for source, _ in found[-1].sources]
        found.append(min(sources, key=lambda node: node.row) if residual and found[-1].kind == "add" else sources[0])
    return found


def _lower(nodes: list[Node]) -> None:
    """A source that is read further down stands near what reads it, not at the top; not where values are led across to a sum."""
    joins = {node.row for node in nodes if node.kind in ("add", "join")}
    for node in nodes:
        readers = [other.row for other in nodes if any(source is node for source, _ in other.sources)]
        if not node.sources and node.col < 0 and readers:
            node.row = next((row for row in range(min(readers) - 1, 0, -1) if row not in joins), 0)


class _Columns:
    """Gives branches columns in which they cross no other branch."""

    def __init__(self, nodes: list[Node]) -> None:
        self.taken: dict[int, list[range]] = {}
        self.last = {id(node): max((r.row for r in nodes if any(s is node for s, _ in r.sources)), default=node.row) for node in nodes}

    def place(self, node: Node, col: int) -> None:
        """A chain of calls in the first free column from `col` on; what a call reads besides stands further to the right."""
        waiting = [(node, col, 0)]
        while waiting:
            node, col, reader = waiting.pop()
            if node.col >= 0:
                continue
            while any(_cross(self._rows(node, col, reader), other) for other in self.taken.get(col, ())):
                col += 1
            node.col = col
            self.taken.setdefault(col, []).append(self._rows(node, col, reader))
            waiting += [(source, col + number, col) for number, (source, _) in reversed([*enumerate(node.sources)])]

    def _rows(self, node: Node, col: int, reader: int) -> range:
        """The rows that a node and the way from it take in a column: beside a reader that stands elsewhere, above one in the same."""
        last = self.last[id(node)]
        return range(node.row, max(last + (reader != col), node.row + 1))


def _cross(a: range, b: range) -> bool:
    return a.start < b.stop and b.start < a.stop
