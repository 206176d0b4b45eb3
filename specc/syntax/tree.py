"""What was written, node by node, each with its span. Knows nothing of models."""

from __future__ import annotations

from dataclasses import dataclass, field

from specc.source import Span

# ---- expressions


@dataclass(frozen=True, slots=True)
class Name:
    id: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, string, true, false or none. `text` is a number's spelling (`500_000`, `1GiB`), kept for the formatter."""

    value: int | float | str | bool | None
    span: Span = field(compare=False)
    text: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Expr, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """`[for name in over: body]`"""

    name: str
    over: Expr
    body: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """`repeat [...]`: the list again and again until the depth is filled."""

    items: ListOf
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """`name: value`, or a positional value where name is None."""

    name: str | None
    value: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`; the function is a Name (`rope`) or an Attribute (`norm.attention`)."""

    function: Expr
    arguments: tuple[Argument, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Attribute:
    """`object.name`"""

    object: Expr
    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """`object[index]`"""

    object: Expr
    index: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `+x`"""

    operator: str
    operand: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`a op b`, op one of + - * / // % ** == != < <= > >= ?? | and or"""

    operator: str
    left: Expr
    right: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`if condition then yes else no`"""

    condition: Expr
    yes: Expr
    no: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Arm:
    """`"pattern": value`; pattern is a Literal, or None for `else`."""

    pattern: Literal | None
    value: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Match:
    """`match subject { arms }`"""

    subject: Expr
    arms: tuple[Arm, ...]
    span: Span = field(compare=False)


Expr = Name | Literal | ListOf | For | Repeat | Call | Attribute | Index | Unary | Binary | If | Match

# ---- statements


@dataclass(frozen=True, slots=True)
class Path:
    """The left side of a field: `norm.attention`, `layers[i].attention.q`. An index is the part `[i]`, brackets included."""

    parts: tuple[str, ...]
    span: Span = field(compare=False)

    def __str__(self) -> str:
        return "".join(p if p.startswith("[") or n == 0 else f".{p}" for n, p in enumerate(self.parts))


@dataclass(frozen=True, slots=True)
class Field:
    """`path = value`. `doc` holds the `##` lines above it."""

    path: Path
    value: Expr
    span: Span = field(compare=False)
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """`fact op value` inside `checks { }`; the fact begins with a name."""

    fact: Expr
    operator: str
    value: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Require:
    """`require condition else "what is not supported"`"""

    condition: Expr
    otherwise: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Checks:
    items: tuple[Check, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Weights:
    """`weights name { root = ... ignore = ... path = source }`"""

    name: str
    fields: tuple[Field, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Layer:
    """`layer name { ... }`"""

    name: str
    body: tuple[Statement, ...]
    span: Span = field(compare=False)
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """`block name(x, memory) { ... }`"""

    name: str
    parameters: tuple[str, ...]
    fields: tuple[Field, ...]
    span: Span = field(compare=False)
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Stack:
    """`encoder { ... }` or `decoder { ... }`"""

    name: str
    body: tuple[Statement, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Model:
    """`model name(parameters) extends base { ... }`"""

    name: str
    parameters: tuple[str, ...]
    extends: str | None
    body: tuple[Statement, ...]
    span: Span = field(compare=False)
    name_span: Span = field(compare=False)
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Adapter:
    """`adapter name for target { ... }`; its body holds calls and fields. The target is a file, or a model's name where `named`."""

    name: str
    target: str
    body: tuple[Field | Call, ...]
    span: Span = field(compare=False)
    doc: str = ""
    named: bool = False
    name_span: Span | None = field(default=None, compare=False)
    target_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Use:
    path: str
    span: Span = field(compare=False)


Statement = Field | Layer | Block | Stack | Checks | Weights | Require


@dataclass(frozen=True, slots=True)
class File:
    """A whole file. `version` is the number after `specc`, None where the file does not say."""

    version: int | None
    items: tuple[Use | Model | Adapter | Block | Weights, ...]
    span: Span = field(compare=False)
    version_span: Span | None = field(default=None, compare=False)
