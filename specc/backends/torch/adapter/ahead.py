"""What stands in front of the tokens: learned keys and values, learned embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specc.backends.torch.adapter.loops import loops
from specc.components.adapter.base import Method, Site
from specc.ir.adapter import Adapter, sites


@dataclass(frozen=True, slots=True)
class Ahead:
    """What the printed methods have to know of the model and of the methods."""

    keys: bool
    tokens: bool
    encoder: bool  # whether the keys come out of one network
    causal: bool
    growing: int  # the axis of the first kept tensor that grows
    padded: tuple[str, ...]
    cut: tuple[str, ...]
    heads: tuple[tuple[int, int], ...]
    two: bool  # whether there is an encoder and a decoder

    @classmethod
    def of(cls, adapter: Adapter) -> Ahead | None:
        if not adapter.ahead:
            return None
        model, stack = adapter.base, adapter.base.stack
        places = {method.place for method in adapter.ahead}
        prefix = next((method for method in adapter.ahead if method.place == "keys"), None)
        states = [s for layer in stack.layers for i in layer.instances for s in i.component.state(i.dims(stack.dims))]
        outputs = [(name, head.component.output_shape(name, stack.dims)) for head in model.heads for name in head.component.outputs]
        return cls(
            keys="keys" in places,
            tokens="tokens" in places,
            encoder=prefix is not None and prefix.reparameterised is not None,
            causal=stack.causal,
            growing=states[0].shape.index("S"),
            padded=tuple(wanted.name for wanted in model.inputs().values() if wanted.shape == ("B", "T")),
            cut=tuple(name for name, shape in outputs if "sequence" in shape),
            heads=tuple((site.heads, site.head_dim) for site in sites(prefix, model)) if prefix else (),
            two=model.encoder is not None,
        )

    @property
    def template(self) -> str:
        return "over_ahead_two" if self.two else "over_ahead"

    def hooks(self) -> list[str]:
        """The lines that let the printed methods act."""
        if not self.two:
            lines = ['model.__dict__.setdefault("ahead", []).append(self)', "model.register_forward_pre_hook(self._begin, with_kwargs=True)"]
            return lines + ["model.register_forward_hook(self._end)"] * bool(self.cut and self.tokens)
        lines = []
        if self.keys:
            lines += ['model.decoder.__dict__.setdefault("ahead", []).append(self)']
            lines += ["model.decoder.register_forward_pre_hook(self._begin_target, with_kwargs=True)"]
        if self.tokens:
            lines += ["model.register_forward_pre_hook(self._begin_source, with_kwargs=True)"]
            lines += ["model.encoder.register_forward_hook(self._end_source)"]
        return lines

    def context(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {"lengths": ["PREFIX"] * self.keys + ["PROMPT"] * self.tokens, "padded": _tuple(self.padded), "cut": _tuple(self.cut)}

    def constants(self) -> list[str]:
        """The heads and head width of every layer's keys, where one network makes them all."""
        if not self.encoder:
            return []
        same = len(set(self.heads)) == 1
        return [f"HEADS = [{self.heads[0]}] * LAYERS" if same else f"HEADS = {list(self.heads)}"]


def _tuple(names: tuple[str, ...]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"({quoted}{',' * (len(names) == 1)})" if names else ""


def prefix_lines(adapter: Adapter, method: Method, found: list[Site], called: str) -> list[str]:
    """The lines that make the prefixes, and in a bidirectional model let the attentions see them."""
    stack, lines = adapter.base.stack, []
    if method.reparameterised is not None:
        total = sum(2 * site.heads * site.head_dim for site in found)
        sizes = f"width={found[0].width}, inner={method.reparameterised}, total={total}"
        lines.append(f"self.prefix = {called}(next(model.parameters()), {sizes})")
    else:
        lines.append("self._prefix: list[nn.Module] = []  # layer by layer")
        shapes = [(site.heads, site.head_dim) for site in found]
        calls = [f"self.front(model, {{}}, heads={heads}, width={width})" for heads, width in shapes]
        if len(set(shapes)) == 1:
            lines += loops([site.key for site in found], calls[0], stack.dims.depth)
        else:
            lines += [call.format(f'"{site.key}"') for call, site in zip(calls, found, strict=True)]
    if not stack.causal:
        lines += _lengthened([site.key for site in found])
    return lines


def _lengthened(keys: list[str]) -> list[str]:
    last = keys[0].rpartition(".")[2]
    if keys == [f"layers.{n}.{last}" for n in range(len(keys))]:
        return ["for i in range(LAYERS):", f'    self._lengthen(i, model.get_submodule(f"layers.{{i}}.{last}"))']
    return [f'self._lengthen({n}, model.get_submodule("{key}"))' for n, key in enumerate(keys)]
