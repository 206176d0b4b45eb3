"""A builder that lays an adapter over the maps, tables and sublayers that components ask it for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specc.backends.onnx.builder import Builder, Value
from specc.backends.onnx.initializers import Initializers
from specc.components.adapter.base import Method, Site
from specc.ir.adapter import Adapter
from specc.ir.model import Stack

Acting = tuple[Method, Site, int]  # a method, where, and which of the site's slots


class AdaptedBuilder(Builder):
    """What an adapter holds is an input of the graph with a default that changes nothing: a base graph serves many adapters."""

    def __init__(
        self,
        adapter: Adapter,
        stack: Stack,
        weights: Initializers,
        compute: str = "float32",
        origins: dict[str, str] | None = None,
        tokens: str = "embed_tokens",
    ) -> None:
        """stack: the one whose graph this is: keys stand in front in the last, tokens in the first."""
        super().__init__(weights, compute, origins, tokens)
        self._acting: dict[str, list[Acting]] = {}
        meant = {"keys": stack is adapter.base.stacks[-1], "tokens": stack is adapter.base.stacks[0]}
        front = {method.place: (method, site, 0) for method, site in reversed(adapter.sites()) if method in adapter.ahead}
        self._front = {place: acting for place, acting in front.items() if meant[place]}
        self._longer = "tokens" in front.keys() - self._front.keys()  # the encoder's output, in a decoder's graph
        self.ahead = bool(self._front)
        for method, site in sorted(adapter.sites(), key=lambda pair: pair[0].place == "tokens"):
            for number, key in enumerate([slot.key for slot in site.slots] or [site.key]):
                self._acting.setdefault(key, []).append((method, site, number))
        self._at: Acting | None = None
        self._shared: dict[tuple, Value] = {}

    # ---- what a method's lowering asks for

    def given(self, name: str) -> Value:
        """What the adapter at hand holds by this name: an input of the graph, by default of rank 0, or filled with its neutral number."""
        method, site, _ = self._at
        whole = f"{site.key}.{method.kind}.{name}"
        if whole not in self.inputs:
            import numpy as np

            extents, neutral = method.taken(site)[name]  # extents that are words are open
            self.inputs[whole] = (self.compute, tuple(_symbol(site, e) for e in extents))
            shape = [0 if isinstance(e, str) else e for e in extents]
            self.weights.default(whole, np.full(shape, neutral, "float32"), self.compute)
        return whole

    def _of(self, acting: Acting, name: str) -> Value:
        self._at, before = acting, self._at
        try:
            return self.given(name)
        finally:
            self._at = before

    def keys_ahead(self) -> Value | None:
        """The first of the learned keys [K, P, D], all of which are equally many."""
        return self._of(self._front["keys"], "key") if "keys" in self._front else None

    def tokens_ahead(self) -> Value | None:
        """The learned rows [P, C] in front of the embedded tokens."""
        return self._of(self._front["tokens"], "rows") if "tokens" in self._front else None

    def once(self, name: str, x: Value, make: Callable[[], Value]) -> Value:
        """A value that the slots of a site share, for one input."""
        method, site, _ = self._at
        key = (method.kind, site.key, name, x)
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]

    # ---- where the adapter acts

    def linears(self, x: Value, names: Sequence[str]) -> tuple[Value, ...]:
        enter = {name: self._act(self._key(name), x, x, entering=True) for name in names}
        made: dict[Value, Value] = {}
        for source in dict.fromkeys(enter.values()):
            alike = [name for name in names if enter[name] == source]
            made |= dict(zip(alike, super().linears(source, alike), strict=True))
        return tuple(self._act(self._key(name), enter[name], made[name]) for name in names)

    def rows(self, name: str, ids: Value, frame: Any) -> Value:
        y = self._act(self.path, ids, super().rows(name, ids, frame))
        return y if self.tokens_ahead() is None else self.put_ahead(y, frame)

    def kept(self, key: str, past: dict[str, Value] | None, frame: Any) -> dict[str, Value] | None:
        for acting in self._acting.get(key, ()):
            if acting[0].place == "keys":
                with self.at(*key.split("."), acting[0].kind):
                    front = {name: self._in_front(self._of(acting, name), frame) for name in ("key", "value")}
                    if past is None:
                        return front
                    return {name: self.op("Concat", front[name], past[name], axis=2) for name in past}
        return past

    def memory_mask(self, hidden: Value, mask: Value) -> Value:
        if not self._longer:
            return mask
        with self.outside():
            count = self.op("Sub", *(self.op("Gather", self.op("Shape", x), self.integer(1)) for x in (hidden, mask)))
            batch = self.op("Gather", self.op("Shape", mask), self.integer(0))
            extents = self.op("Concat", *(self.reshape(x, (1,)) for x in (batch, count)), axis=0)
            return self.op("Concat", self.op("Expand", self.constant([[1]], "int64"), extents), mask, axis=1)

    def _in_front(self, learned: Value, frame: Any) -> Value:
        """learned [K, P, D] -> [B, K, P, D], of a later call [B, K, 0, D]"""
        zero, axis = self.constant([0], "int64"), self.constant([1], "int64")
        part = self.op("Slice", learned, zero, self.reshape(frame.keys_ahead, (1,)), axis)
        return self.op("Expand", self.op("Unsqueeze", part, zero), self.op("Concat", self.reshape(frame.batch, (1,)), self.constant([1, 1, 1], "int64"), axis=0))

    def put_ahead(self, y: Value, frame: Any) -> Value:
        """The embedded tokens y [N, C] with the learned rows in place of those that stand in front."""
        zero, axis = self.constant([0], "int64"), self.constant([1], "int64")
        count = self.reshape(frame.tokens_ahead, (1,))
        tokens = self.op("Slice", frame.sequences(y), count, self.constant([2**62], "int64"), axis)
        rows = self.op("Unsqueeze", self.op("Slice", self.tokens_ahead(), zero, count, zero), zero)
        rows = self.op("Expand", rows, self.op("Concat", self.reshape(frame.batch, (1,)), self.constant([1, 1], "int64"), axis=0))
        return self.op("Reshape", self.op("Concat", rows, tokens, axis=1), self.op("Shape", y))

    def after(self, key: str, x: Value, y: Value) -> Value:
        return self._act(key, x, y)

    def _act(self, key: str, x: Value, y: Value, entering: bool = False) -> Value:
        """y with everything that acts on a place, in order."""
        for method, site, number in self._acting.get(key, ()):
            if site.on_input == entering and method.place in ("map", "call"):
                self._at, before = (method, site, number), self._at
                with self.at(*key.split("."), method.kind):
                    y = method.lower(self, site, number, x, y)
                self._at = before
        return y


def _symbol(site: Site, extent: int | str) -> int | str:
    """An extent of an input: open ones are called after the site, or by a name that several share."""
    if isinstance(extent, int):
        return extent
    return extent[1:] if extent.startswith("*") else f"{site.key}.{extent}"
