"""Records ONNX nodes in call order. What a component's `lower` is handed as `g`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from specc.backends.onnx import proto
from specc.backends.onnx.initializers import Initializers

Value = str  # the name of a value in the graph


class Builder:
    """Nodes, constants and weights of one graph. Values are named after the place and the operator that made them."""

    def __init__(self, weights: Initializers, compute: str = "float32", origins: dict[str, str] | None = None, tokens: str = "embed_tokens") -> None:
        """tokens: the place of the token table in the state dict."""
        self.weights = weights
        self.tokens = tokens
        self.compute = compute
        self.nodes: list[Any] = []
        self._open = self.nodes  # the graph that nodes go to: the main one, or a branch
        self._origins = origins or {}
        self._path: list[str] = []
        self._counts: dict[str, int] = {}
        self._constants: dict[tuple, Value] = {}
        self._casts: dict[Value, Value] = {}
        self.inputs: dict[Value, tuple[str, tuple[int | str, ...]]] = {}  # of the graph, each with a default

    # ---- places

    @contextmanager
    def scope(self, *names: str) -> Iterator[None]:
        """Parameters asked for inside are looked up one level further down, and nodes carry the longer path."""
        self._path += names
        try:
            yield
        finally:
            del self._path[len(self._path) - len(names) :]

    @contextmanager
    def at(self, *names: str) -> Iterator[None]:
        """The place of these names, whatever the place at hand; in the same graph."""
        path, self._path = self._path, list(names)
        try:
            yield
        finally:
            self._path = path

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Work that belongs to no component, whoever asks for it first."""
        path, graph = self._path, self._open
        self._path, self._open = [], self.nodes
        try:
            yield
        finally:
            self._path, self._open = path, graph

    @property
    def path(self) -> str:
        """The place in the state dict of the component at hand."""
        return ".".join(self._path)

    def _key(self, name: str) -> str:
        return ".".join([*self._path, name] if name else self._path)

    # ---- operators

    def op(self, kind: str, *inputs: Value | None, **attributes: Any) -> Value:
        """One node with one output."""
        return self.ops(kind, *inputs, outputs=1, **attributes)[0]

    def ops(self, kind: str, *inputs: Value | None, outputs: int, **attributes: Any) -> tuple[Value, ...]:
        """One node with several outputs."""
        path = "/".join(self._path)
        stem = f"{path}/{kind}" if path else kind
        number = self._counts[stem] = self._counts.get(stem, -1) + 1
        name = f"{stem}_{number}" if number else stem
        made = (name,) if outputs == 1 else tuple(f"{name}:{n}" for n in range(outputs))
        self._open.append(proto.node(kind, name, [i or "" for i in inputs], made, attributes, self._provenance()))
        return made

    def either(self, condition: Value, yes: Callable[[], Value], no: Callable[[], Value]) -> Value:
        """The value that one of two branches makes, each a graph of its own that reads the values around it."""
        return self.eithers(condition, lambda: (yes(),), lambda: (no(),), outputs=1)[0]

    def eithers(self, condition: Value, yes: Callable[[], tuple[Value, ...]], no: Callable[[], tuple[Value, ...]], outputs: int) -> tuple[Value, ...]:
        """The same for branches that make several values."""
        branches = {}
        for name, make in (("then_branch", yes), ("else_branch", no)):
            outer, self._open = self._open, []
            results = make()
            branches[name] = proto.graph(f"{self.path}/{name}", self._open, results, self.compute)
            self._open = outer
        return self.ops("If", condition, outputs=outputs, **branches)

    def _provenance(self) -> dict[str, str]:
        if not self._path:
            return {}
        place = {"specc.path": ".".join(self._path)}
        longer = (".".join(self._path[:end]) for end in range(len(self._path), 0, -1))
        origin = next((self._origins[p] for p in longer if p in self._origins), None)
        return place | ({"specc.source": origin} if origin else {})

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """x in another shape; 0 keeps an extent, -1 takes what is left."""
        return self.op("Reshape", x, self.constant(list(shape), "int64"))

    def cast(self, x: Value) -> Value:
        """A float32 value in the type the graph computes in."""
        return x if self.compute == "float32" else self.op("Cast", x, to=self.compute)

    def sigmoid(self, x: Value) -> Value:
        """1 / (1 + exp(-x)) to the last digit. ONNX Runtime's own is off by 1e-7, and exactly 0 from -18 on: too much where a norm
        or a quotient makes small values large."""
        return self.op("Reciprocal", self.op("Add", self.op("Exp", self.op("Neg", x)), self.number(1.0)))

    def best(self, x: Value, k: int | Value) -> tuple[Value, Value]:
        """x [..., n] -> its k largest [..., k] and their places; k a number or a value [1]. ONNX sorts bfloat16 from opset 24 on; float32 holds it exactly."""
        wide = self.op("Cast", x, to="float32") if self.compute == "bfloat16" else x
        count = self.constant([k], "int64") if isinstance(k, int) else k
        largest, places = self.ops("TopK", wide, count, outputs=2, axis=-1)
        return (largest if wide == x else self.cast(largest)), places

    # ---- constants

    def constant(self, value: Any, dtype: str | None = None) -> Value:
        """A small constant kept in the graph: a number, a nested list or an array."""
        import numpy as np

        array = np.asarray(value, dtype=dtype)
        key = (str(array.dtype), array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.weights.inline(f"constant_{len(self._constants)}", array)
        return self._constants[key]

    def integer(self, value: int) -> Value:
        return self.constant(value, "int64")

    def number(self, value: float) -> Value:
        """A scalar in the type the graph computes in."""
        scalar = self.constant(value, "float32")
        return self._cast_once(scalar)

    def ones(self) -> Value:
        """[1], a scale that changes nothing, in the type the graph computes in."""
        return self._cast_once(self.constant([1.0], "float32"))

    def _cast_once(self, x: Value) -> Value:
        if self.compute == "float32":
            return x
        if x not in self._casts:
            with self.outside():
                self._casts[x] = self.op("Cast", x, to=self.compute)
        return self._casts[x]

    # ---- weights

    def parameter(self, name: str) -> Value:
        """A parameter of the component at hand."""
        return self._weight(self._key(name))

    def token_table(self) -> Value:
        """The token embedding [V, width], which a tied head shares."""
        return self._weight(f"{self.tokens}.weight")

    def _weight(self, key: str) -> Value:
        if (found := self.weights.rows(key)) is not None:
            return self._gathered(key, *found)
        value, dtype = self.weights.whole(key)
        return self._as_compute(value, dtype)

    def _gathered(self, key: str, rows: list[Value], dtype: str) -> Value:
        """A parameter whose rows are initialisers of their own; ONNX Runtime joins them when it loads the graph."""
        if key not in self._casts:
            with self.outside():
                joined = self.op("Concat", *rows, axis=0)
                self._casts[key] = joined if dtype == self.compute else self.op("Cast", joined, to=self.compute)
        return self._casts[key]

    def _as_compute(self, value: Value, dtype: str) -> Value:
        if dtype == self.compute:
            return value
        if value not in self._casts:
            with self.outside():
                self._casts[value] = self.op("Cast", value, to=self.compute)
        return self._casts[value]

    ahead = False  # whether something stands in front of the caller's tokens

    def kept(self, key: str, past: dict[str, Value] | None, frame: Any) -> dict[str, Value] | None:
        """The cache that an attention's call reads; a builder may put something in front of it."""
        return past

    def memory_mask(self, hidden: Value, mask: Value) -> Value:
        """Which tokens of the encoder's output [B, M, C] are real; a builder may have put more in front of them than the caller knows."""
        return mask

    def after(self, key: str, x: Value, y: Value) -> Value:
        """The result y of a sublayer or a layer whose input is x; a builder may lay something over it."""
        return y

    def rows(self, name: str, ids: Value, frame: Any) -> Value:
        """ids [N], the tokens of a frame -> [N, width]: rows of a table of the component."""
        return self.op("Gather", self.parameter(name), ids)

    def linear(self, x: Value, name: str) -> Value:
        """x [N, in] -> [N, out] by the component's linear map of this name."""
        return self.linears(x, (name,))[0]

    def linears(self, x: Value, names: Sequence[str]) -> tuple[Value, ...]:
        """Several linear maps of one input; maps that a checkpoint keeps in one tensor it cannot be cut out of share a Gemm."""
        made: dict[str, Value] = {}
        for name in names:
            if name in made:
                continue
            key = f"{self._key(name)}.weight"
            if self.weights.is_cut(key):
                made |= self._cut(x, key, names)
            else:
                made[name] = self._gemm(x, self.weights.matrix(key), self._bias(f"{self._key(name)}.bias"))
        return tuple(made[name] for name in names)

    def _bias(self, key: str) -> Value | None:
        return self._weight(key) if self.weights.has(key) else None

    def _gemm(self, x: Value, matrix: tuple[Value, str, bool], bias: Value | None) -> Value:
        weight, dtype, transposed = matrix
        operands = [x, self._as_compute(weight, dtype)] + ([bias] if bias else [])
        return self.op("Gemm", *operands, **({} if transposed else {"transB": 1}))

    def _cut(self, x: Value, key: str, names: Sequence[str]) -> dict[str, Value]:
        """One Gemm over a fused tensor, its output taken apart: the split of an output costs nothing."""
        matrix, part = self.weights.fused(key)
        bias_key = key.removesuffix(".weight") + ".bias"
        bias = self._as_compute(*self.weights.fused(bias_key)[0][:2]) if self.weights.has(bias_key) else None
        joined = self._gemm(x, matrix, bias)  # [N, rows of all parts]
        rows = [count // part.groups for _, count in part.rows]
        if part.groups > 1:
            joined = self.reshape(joined, (-1, part.groups, sum(rows)))
        pieces = self.ops("Split", joined, self.constant(rows, "int64"), outputs=len(rows), axis=-1)
        if part.groups > 1:
            pieces = tuple(self.reshape(piece, (-1, count)) for piece, (_, count) in zip(pieces, part.rows, strict=True))
        found = {name: piece for (name, _), piece in zip(part.rows, pieces, strict=True)}
        return {name: found[name.rpartition(".")[2]] for name in names if name.rpartition(".")[2] in found}
