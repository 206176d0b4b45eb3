"""What the frame gives to components: sizes, positions, masks, each made once when first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from specc.backends.onnx.builder import Builder, Value
from specc.backends.onnx.picture import PictureFrame
from specc.ir.node import Component, Dims, Input


@dataclass(slots=True)
class Call:
    """What a sublayer's lowering gets besides x. `past` is None where nothing is kept; `present` is filled by the sublayer."""

    frame: Frame
    position: Component | None = None
    tables: tuple[Value, ...] | None = None
    mask: Value | None = None  # what this layer sees, and what its position scheme adds for all layers
    past: dict[str, Value] | None = None
    memory: Any = None  # specc.backends.onnx.decoder.Memory, for a sublayer that reads the encoder's output
    shared: dict[str, Value] | None = None  # the keys and values of an earlier layer, for an attention that has none
    present: dict[str, Value] = field(default_factory=dict)
    shown: bool = False  # whether the graph gives what each query takes of each key
    weights: Value | None = None  # that, [B, H, T, S]; filled by the sublayer

    def attend(self, q: Value, k: Value, v: Value, mask: Value | None, **options: Any) -> Value:
        """The Attention operator over what is kept and what is new; what it leaves and shows is put down. -> as q comes"""
        g, past = self.frame.g, [self.past["key"], self.past["value"]] if self.past is not None else []
        if self.shown:
            options["qk_matmul_output_mode"] = 3  # after the softmax
        if not past and not self.shown:
            return g.op("Attention", q, k, v, mask, **options)
        out, *more = g.ops("Attention", q, k, v, mask, *past, outputs=4 if self.shown else 3, **options)
        if past:
            self.present |= {"key": more[0], "value": more[1]}
        self.weights = more[2] if self.shown else None
        return out

    def scored(self, q: Value, k: Value, attention: Component) -> Value:
        """The mask with the term that the position scheme makes in this layer. q [B, T, H*D], k [B, S, K*D]"""
        term = self.position.score(self.frame.g, q, k, self, attention)
        return self.mask if term is None else self.frame.biased(self.mask, term)


class Frame:
    """The values of one call that no component owns. B batch, T new tokens, S all tokens, N = B * T.

    Its sizes are those of `input_ids`, or, in a model that reads images, of `pixel_values`, which hold no padding.
    """

    def __init__(
        self, g: Builder, causal: bool, schemes: Mapping[tuple[Component, int, int], str] | None = None, dims: Dims | None = None
    ) -> None:
        self.g = g
        self.causal = causal
        self.dims = dims
        self.inputs: dict[str, tuple[str, tuple[int | str, ...]]] = {}
        self._schemes = schemes or {}  # where position schemes hold what all their layers share
        self._masks: dict[tuple, Value] = {}
        self._biased_masks: set[Value] = set()
        self._tables: dict[tuple, tuple[Value, ...] | None] = {}

    # ---- inputs

    def given(self, name: str, shape: tuple[int | str, ...] = ("batch", "sequence"), dtype: str = "int64") -> Value:
        """An input of the graph."""
        self.inputs.setdefault(name, (dtype, shape))
        return name

    def wanted(self, needed: Input) -> Value:
        """What a component declares that it needs from the caller."""
        extents = {"B": "batch", "T": "sequence", "S": self.all_tokens}
        dtype = self.g.compute if needed.dtype == "float32" else needed.dtype
        return self.given(needed.name, tuple(extents.get(extent, extent) for extent in needed.shape), dtype)

    @property
    def all_tokens(self) -> str:
        """The symbol of S."""
        return "total_sequence" if self.causal else "sequence"

    @cached_property
    def picture(self) -> PictureFrame | None:
        """The sizes of a call that brings images; None in a model that reads text."""
        if self.dims is None or self.dims.image is None:
            return None
        pixels = self.given("pixel_values", ("batch", self.dims.image.channels, "height", "width"), self.g.compute)
        return PictureFrame(self.g, self.dims, pixels)

    def token_ids(self) -> Value:
        """-> [N]"""
        return self._once("token_ids", lambda: self.g.reshape(self.given("input_ids"), (-1,)))

    @cached_property
    def attention_mask(self) -> Value:
        """[B, S], 1 for a real token."""
        return self.given("attention_mask", ("batch", self.all_tokens))

    def _once(self, name: str, make) -> Value:
        known = self.__dict__.setdefault("_made", {})
        if name not in known:
            with self.g.outside():
                known[name] = make()
        return known[name]

    # ---- sizes

    @property
    def batch_and_new(self) -> Value:
        """-> [2]: B, T"""
        if self.picture is not None:
            return self.picture.batch_and_new
        return self._once("batch_and_new", lambda: self.g.op("Shape", self.given("input_ids")))

    @property
    def new(self) -> Value:
        """-> scalar T"""
        return self._once("new", lambda: self.g.op("Gather", self.batch_and_new, self.g.integer(1)))

    @property
    def total(self) -> Value:
        """-> scalar S"""
        if not self.causal:
            return self.new
        return self._once("total", lambda: self.g.op("Gather", self.g.op("Shape", self.attention_mask), self.g.integer(1)))

    def sequences(self, x: Value) -> Value:
        """x [N, C] -> [B, T, C]"""
        shape = self._once("rows", lambda: self.g.op("Concat", self.batch_and_new, self.g.constant([-1], "int64"), axis=0))
        return self.g.op("Reshape", x, shape)

    def all_sequences(self, x: Value) -> Value:
        """x [B * S, C] -> [B, S, C]"""
        return self.g.op("Reshape", x, self._once("all_rows", lambda: self._extents(self.batch, self.total, -1)))

    # ---- positions and indices

    @property
    def positions(self) -> Value:
        """[B, T]: real tokens before each new one in a causal stack, columns in a bidirectional one."""
        if self.causal:
            return self.given("position_ids")
        return self._once("positions", lambda: self.g.op("Expand", self.query, self.batch_and_new))

    def flat_positions(self) -> Value:
        """-> [N]"""
        return self._once("flat_positions", lambda: self.g.reshape(self.positions, (-1,)))

    def position_column(self) -> Value:
        """-> [B, T, 1] in float32, clamped to 0"""

        def make() -> Value:
            position = self.g.op("Cast", self.positions, to="float32")
            return self.g.op("Unsqueeze", position, self.g.constant([2], "int64"))

        return self._once("position_column", make)

    def longest(self) -> Value:
        """-> float32 scalar: one more than the largest position of the call"""

        def make() -> Value:
            furthest = self.g.op("ReduceMax", self.positions, keepdims=0)
            return self.g.op("Cast", self.g.op("Add", furthest, self.g.integer(1)), to="float32")

        return self._once("longest", make)

    @property
    def query(self) -> Value:
        """-> [T]: the column of each new token, counted from the start of the cache"""

        def make() -> Value:
            first = self.g.op("Sub", self.total, self.new) if self.causal else self.g.integer(0)
            return self.g.op("Range", first, self.total, self.g.integer(1))

        return self._once("query", make)

    @property
    def query_column(self) -> Value:
        """-> [T, 1]"""
        return self._once("query_column", lambda: self.g.reshape(self.query, (-1, 1)))

    @property
    def key_row(self) -> Value:
        """-> [1, S]"""

        def make() -> Value:
            return self.g.reshape(self.g.op("Range", self.g.integer(0), self.total, self.g.integer(1)), (1, -1))

        return self._once("key_row", make)

    def clipped_distance(self, furthest: int) -> Value:
        """-> [T, S]: how many columns each key stands after each query, from -furthest to furthest, counted from 0"""

        def make() -> Value:
            ahead = self.g.op("Sub", self.key_row, self.query_column)
            clipped = self.g.op("Clip", ahead, self.g.integer(-furthest), self.g.integer(furthest))
            return self.g.op("Add", clipped, self.g.integer(furthest))

        return self._once(f"clipped_distance_{furthest}", make)

    @property
    def valid(self) -> Value:
        """-> bool [B, 1, 1, S]"""

        def make() -> Value:
            real = self.g.op("Cast", self.attention_mask, to="bool")
            return self.g.op("Unsqueeze", real, self.g.constant([1, 2], "int64"))

        return self._once("valid", make)

    @property
    def padding(self) -> Value:
        """-> [B, 1, 1, 1]: the columns left of a row's first real token; a single 0 where images are read"""
        if self.picture is not None:
            return self.g.integer(0)

        def make() -> Value:
            column = self.g.op("Where", self.valid, self.key_row, self.total)  # [B, 1, 1, S]
            return self.g.op("ReduceMin", column, self.g.constant([3], "int64"), keepdims=1)

        return self._once("padding", make)

    @property
    def key_positions(self) -> Value:
        """-> [B, S]: real tokens before each key in a causal stack, its column in a bidirectional one"""

        def make() -> Value:
            if not self.causal:
                return self.positions
            count = self.g.op("CumSum", self.attention_mask, self.g.integer(1))
            return self.g.op("Max", self.g.op("Sub", count, self.g.integer(1)), self.g.integer(0))

        return self._once("key_positions", make)

    # ---- shared by layers

    def tables(self, position: Component, width: int, heads: int):
        """A position scheme's tables, once for all layers that share the scheme and the head width."""
        scope = self._shared(position, heads, width)
        key = (position, width, *scope)
        if key not in self._tables:
            with self.g.outside(), self.g.scope(*scope):
                self._tables[key] = position.tables(self.g, self, width)
        return self._tables[key]

    def _shared(self, position: Component, heads: int, width: int | None = None) -> tuple[str, ...]:
        """The place of what all layers of a scheme share."""
        for (scheme, wanted, wide), key in self._schemes.items():
            if scheme == position and wanted == heads and width in (None, wide):
                return (key,)
        return ()

    def mask(self, mask: Component, position: Component, heads: int) -> Value | None:
        """What attention is to see and add: bool [B, 1, T, S], or float [B, H, T, S] where the scheme adds a bias.

        None where nothing is hidden and nothing added: images hold no padding.
        """
        with self.g.outside():
            if mask not in self._masks:
                self._masks[mask] = self._visible(mask)
            key = (mask, position, heads)
            if key not in self._masks:
                with self.g.scope(*self._shared(position, heads)):
                    bias = position.bias(self.g, self, heads)
                self._masks[key] = self._masks[mask] if bias is None else self.biased(self._masks[mask], bias)
        return self._masks[key]

    def _visible(self, mask: Component) -> Value | None:
        visible = mask.visible(self.g, self.query_column, self.key_row, self)
        if self.picture is not None:
            return visible
        if visible is not None:
            return self.g.op("And", visible, self.valid)
        # ONNX Runtime wants the mask's last two extents spelt out
        return self.g.op("Expand", self.valid, self._extents(self.batch, 1, self.new, self.total))

    def hide(self, scores: Value, mask: Value | None) -> Value:
        """Scores [B, H, T, S] with a mask of this frame applied."""
        if mask is None:
            return scores
        if mask in self._biased_masks:
            return self.g.op("Add", scores, mask)
        return self.g.op("Where", mask, scores, self.g.cast(self.g.constant(float("-inf"), "float32")))

    def _extents(self, *extents: Value | int) -> Value:
        """A shape out of one-element values and integers."""
        parts = [self.g.constant([e], "int64") if isinstance(e, int) else self.g.reshape(e, (1,)) for e in extents]
        return self.g.op("Concat", *parts, axis=0)

    @property
    def batch(self) -> Value:
        """-> scalar B"""
        return self._once("batch", lambda: self.g.op("Gather", self.batch_and_new, self.g.integer(0)))

    def per_head(self, x: Value, heads: int) -> Value:
        """x [B, K, G*T, n] -> [B, H, T, n]"""
        return self.g.op("Reshape", x, self._once(f"per_head_{heads}", lambda: self._extents(self.batch, heads, self.new, -1)))

    def per_group(self, x: Value, kv_heads: int) -> Value:
        """x [B, H, T, S] -> [B, K, G*T, S]"""
        return self.g.op("Reshape", x, self._once(f"per_group_{kv_heads}", lambda: self._extents(self.batch, kv_heads, -1, self.total)))

    def pairs(self, x: Value, heads: int) -> Value:
        """x [T, S] -> [B, H, T, S]: the same for every head of every row"""
        shape = self._once(f"pairs_{heads}", lambda: self._extents(self.batch, heads, self.new, self.total))
        return self._once(f"pairs_{heads}_{x}", lambda: self.g.op("Expand", x, shape))

    def one_column(self, heads: int) -> Value:
        """-> the shape [B, H, T, 1]"""
        return self._once(f"one_column_{heads}", lambda: self._extents(self.batch, heads, self.new, 1))

    def biased(self, mask: Value | None, bias: Value) -> Value:
        """A mask of this frame, with a term [1 or B, H, T, S] for what it shows."""
        if mask is None:
            made = bias
        elif mask in self._biased_masks:
            made = self.g.op("Add", mask, bias)
        else:
            made = self.g.op("Where", mask, bias, self.g.cast(self.g.constant(float("-inf"), "float32")))
        self._biased_masks.add(made)
        return made

    def outward(self, x: Value, shape: tuple[int | str, ...]) -> Value:
        """An output as it leaves the graph; a frame that knows more than the caller's tokens leaves the rest out."""
        return x

    # ---- one vector per sequence

    def first(self, x: Value) -> Value:
        """x [B, T, C] -> [B, C]: the first token's"""
        return self.g.op("Gather", x, self.g.integer(0), axis=1)

    def last(self, x: Value) -> Value:
        """x [B, T, C] -> [B, C]: the last real token's"""
        g = self.g
        if self.picture is not None:
            return g.op("Gather", x, g.integer(-1), axis=1)
        real = g.op("Mul", self.attention_mask, g.op("Add", self.key_row, g.integer(1)))  # [B, S], 0 where padded
        column = g.op("ReduceMax", real, g.constant([1], "int64"), keepdims=1)  # [B, 1]
        past = g.op("Sub", self.total, self.new)
        column = g.op("Max", g.op("Sub", g.op("Sub", column, g.integer(1)), past), g.integer(0))
        rows = g.op("GatherND", x, column, batch_dims=1)  # [B, C]
        return rows

    def mean(self, x: Value) -> Value:
        """x [B, T, C] -> [B, C]: the mean over real tokens"""
        g = self.g
        if self.picture is not None:
            return g.op("ReduceMean", x, g.constant([1], "int64"), keepdims=0)
        real = g.op("Cast", self.attention_mask, to=g.compute)
        weight = g.op("Unsqueeze", real, g.constant([2], "int64"))  # [B, T, 1]
        total = g.op("ReduceSum", g.op("Mul", x, weight), g.constant([1], "int64"), keepdims=0)
        count = g.op("ReduceSum", weight, g.constant([1], "int64"), keepdims=0)  # [B, 1]
        return g.op("Div", total, g.op("Max", count, g.number(1.0)))
