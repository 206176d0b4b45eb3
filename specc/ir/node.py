"""The base of every IR node: frozen, strict, closed. And what every component has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["architecture", "runtime", "training"]


class Node(BaseModel):
    """Immutable, strict, closed: what validates is exactly what was written."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants")

    def replaced(self, **changes: Any) -> Self:
        """The same with some fields changed, and checked again."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields} | changes)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """The same with some fields changed; what was worked out of the old ones is not taken along."""
        made = super().model_copy(update=update, deep=deep)
        for name in made.__dict__.keys() - type(self).model_fields.keys():
            del made.__dict__[name]
        return made


def training(default: Any, **bounds: Any) -> Any:
    """A field that only training uses: it changes no inference number and no fingerprint."""
    return Field(default=default, json_schema_extra={"role": "training"}, **bounds)


def runtime(default: Any) -> Any:
    """A field that changes no number in exact arithmetic: how much is kept, or what rounding does. It changes no fingerprint."""
    return Field(default=default, json_schema_extra={"role": "runtime", "structural": True})


def structural(default: Any = ...) -> Any:
    """A field that decides which parameters or lines exist: in generated code it is never an argument."""
    return Field(default=default, json_schema_extra={"structural": True})


class Picture(Node):
    """What an image model was made for: pixels down and across, channels, and the extents of a patch in pixels."""

    size: tuple[int, int]
    channels: int
    patch: tuple[int, int]

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of whole patches."""
        return self.size[0] // self.patch[0], self.size[1] // self.patch[1]

    @property
    def patches(self) -> int:
        return self.grid[0] * self.grid[1]


class Dims(Node):
    """The sizes of a stack that its components may ask for. Of an image model `context` counts the tokens of an image of its own size.

    memory: the width of the encoder's output, for what reads it. shared: whether keys and values are those of an earlier layer.
    """

    dim: int
    vocab: int | None = None
    context: int | None = None
    depth: int = 0
    image: Picture | None = None
    memory: int | None = None
    shared: bool = False

    @property
    def leading(self) -> int:
        """The tokens of an image model that stand beside its patches."""
        return (self.context or 0) - self.image.patches if self.image else 0


class HeadDims(Dims):
    """What a position scheme may ask for: the sizes of the stack, and those of the attention that it serves."""

    heads: int
    kv_heads: int
    head_dim: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tensor of a component. `name` is relative to the component (`q.weight`).

    role: learned counts in `params`; fixed is stored but not learned; optional is learned, and may be absent from a
    checkpoint. init: normal, ones or zeros. fill: makes the values of a fixed tensor that are known. slot: the weight of a linear
    map or of a table of rows that is a module of its own in PyTorch, over which an adapter can be laid.
    """

    name: str
    shape: tuple[int, ...]
    init: Literal["normal", "ones", "zeros"] = "normal"
    role: Literal["learned", "fixed", "optional"] = "learned"
    slot: Literal["", "map", "table"] = ""
    fill: Callable[[], Any] | None = None

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True, slots=True)
class State:
    """A tensor that one call hands to the next. shape holds ints and the symbols B (batch), S (all tokens so far), M (those of the encoder)."""

    name: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the caller gives. shape holds the symbols B, T (new tokens), S (all tokens).

    Where PyTorch's caller gives none it is zeros; positions are then the counted ones. values: what a proof may fill it with:
    rows of the component's own table, the length of each row's beginning, numbers that are the same over a run of tokens, 1 for a
    few tokens and 0 for all others, positions of each token on several axes, or the pixels of an image. about: what a reader of the
    generated code has to know of it.
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: Literal["int64", "float32"] = "int64"
    values: Literal["rows", "beginning", "runs", "marks", "positions", "pixels"] = "rows"
    about: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a component's own check says: the field to blame, a diagnostic code, a message, a suggestion."""

    field: str
    code: str
    message: str
    help: str | None = None


def linear(name: str, width_in: int, width_out: int, bias: bool) -> tuple[Parameter, ...]:
    """The weight [out, in] of a linear map and, if it has one, its bias [out]."""
    weight = Parameter(f"{name}.weight", (width_out, width_in), slot="map")
    return (weight, Parameter(f"{name}.bias", (width_out,), "zeros")) if bias else (weight,)


def under(prefix: str, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """The same parameters one level further down: `weight` becomes `prefix.weight`."""
    return tuple(Parameter(f"{prefix}.{p.name}", p.shape, p.init, p.role, p.slot, p.fill) for p in parameters)


class Component(Node):
    """One variant on one axis. Its file holds all that specc knows of it; its PyTorch text is a template of the same name.

    `positional` names the fields that arguments without a name set, in order. A component never asks what kind another one is.
    """

    axis: ClassVar[str]
    positional: ClassVar[tuple[str, ...]] = ()
    crosses: ClassVar[bool] = False  # whether it can take the encoder's output as a second input
    takes_shared: ClassVar[bool] = False  # whether it can read the keys and values of an earlier layer
    by_longest: ClassVar[bool] = False  # whether a token's numbers depend on how long a call is, or on its other tokens
    by_columns: ClassVar[bool] = False  # whether it counts columns, so that padding in front of a text moves its numbers
    alike: ClassVar[tuple[str, ...]] = ()  # other kinds that compute the same under names of their own
    holds_activation: ClassVar[bool] = False  # whether an activation in its slot may have parameters
    # for docs/capabilities.md: the fields (and `kind` itself) that an ONNX operator takes by itself; the graph spells the others out
    native: ClassVar[dict[str, str]] = {}
    shows_weights: ClassVar[bool] = False  # whether what each query takes of each key can be an output
    kind: str

    @property
    def adds_loss(self) -> bool:
        """Whether its module has a `loss`, to be added to that of what the model is trained for."""
        return False

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        """`given` with every default that depends on other fields or on the stack filled in."""
        return given

    def check(self, dims: Dims) -> Iterator[Finding]:
        """What is wrong with this component in a stack of these sizes."""
        return iter(())

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return ()

    def state(self, dims: Dims) -> tuple[State, ...]:
        """What it carries from call to call in a causal stack."""
        return ()

    def inputs(self) -> tuple[Input, ...]:
        """What it needs from the caller besides the tokens."""
        return ()

    def active(self, dims: Dims) -> int:
        """Learned values that take part in the computation of one token."""
        return sum(p.size for p in self.parameters(dims) if p.role != "fixed")

    def flops(self, dims: Dims, context: float) -> int:
        """Multiply-adds counted as two, for one token that attends to `context` keys; norms and elementwise work left out.

        Linear in the context, if it depends on it at all.
        """
        return 2 * sum(p.size for p in self.parameters(dims) if len(p.shape) == 2)

    def flops_per_sequence(self, dims: Dims) -> int:
        """The same for work that is done once for a whole sequence."""
        return 0

    def inert(self, beside: Component | None) -> tuple[str, ...]:
        """Fields that mean nothing at this place, whatever their value; those of a part as `part.field`.

        beside: the sublayer whose heads a position scheme serves.
        """
        return ()

    def homogeneous(self) -> bool:
        """Whether a positive factor on the input is the same factor on the output, whatever the weights."""
        return False

    def shrunk(self, plan) -> Self:
        """The same component in a small model: each size replaced by what the plan (specc.tools.shrink.Plan) makes of it."""
        return self

    @classmethod
    def role(cls, name: str) -> Role:
        extra = cls.model_fields[name].json_schema_extra
        return extra.get("role", "architecture") if isinstance(extra, dict) else "architecture"

    @classmethod
    def is_structural(cls, name: str) -> bool:
        extra = cls.model_fields[name].json_schema_extra
        return bool(extra.get("structural", False)) if isinstance(extra, dict) else False

    @classmethod
    def holds_paths(cls, name: str) -> bool:
        """Whether a field holds places of a model (specc.components.adapter.base.paths)."""
        extra = cls.model_fields[name].json_schema_extra
        return bool(extra.get("paths", False)) if isinstance(extra, dict) else False
