"""A builder that lays an adapter over the maps, tables and sublayers that components ask it for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specc.backends.onnx.builder import Builder, Value
from specc.backends.onnx.initializers import Initializers
from specc.components.adapter.base import Method, Site
from specc.ir.adapter import Adapter

Acting = tuple[Method, Site, int]  # a method, where, and which of the site's slots


class AdaptedBuilder(Builder):
    """What an adapter holds is an input of the graph with a default that changes nothing: a base graph serves many adapters."""

    def __init__(
        self, adapter: Adapter, weights: Initializers, compute: str = "float32", origins: dict[str, str] | None = None, tokens: str = "embed_tokens"
    ) -> None:
        super().__init__(weights, compute, origins, tokens)
        self._acting: dict[str, list[Acting]] = {}
        for method, site in adapter.sites():
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
            self.inputs[whole] = (self.compute, tuple(f"{site.key}.{e}" if isinstance(e, str) else e for e in extents))
            shape = [0 if isinstance(e, str) else e for e in extents]
            self.weights.default(whole, np.full(shape, neutral, "float32"), self.compute)
        return whole

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

    def rows(self, name: str, ids: Value) -> Value:
        return self._act(self._key("").removesuffix(".weight"), ids, super().rows(name, ids))

    def after(self, key: str, x: Value, y: Value) -> Value:
        return self._act(key, x, y)

    def _act(self, key: str, x: Value, y: Value, entering: bool = False) -> Value:
        """y with everything that acts on a place, in order."""
        for method, site, number in self._acting.get(key, ()):
            if site.on_input == entering:
                self._at, before = (method, site, number), self._at
                with self.at(*key.split("."), method.kind):
                    y = method.lower(self, site, number, x, y)
                self._at = before
        return y
