"""The functions an expression may call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specc.diagnostics.finding import fail
from specc.resolve.rope_config import rope_of
from specc.resolve.scope import Scope
from specc.resolve.values import LayerRef, Record, Source, Symbol, describe
from specc.source import Span
from specc.syntax import tree

Evaluate = Callable[[tree.Expr, Scope], Any]


def _values(call: tree.Call, scope: Scope, evaluate: Evaluate, least: int, most: int) -> list[Any]:
    name = call.function.id
    if any(a.name for a in call.arguments) or not least <= len(call.arguments) <= most:
        count = str(least) if least == most else f"{least} to {most}"
        raise fail("TYP010", f"`{name}` takes {count} values, in order and without names", call.span)
    found = []
    for argument in call.arguments:  # not a comprehension: those take a frame of the stack
        found.append(evaluate(argument.value, scope))
    return found


def _by_name(call: tree.Call, scope: Scope, evaluate: Evaluate) -> dict[str | None, Any]:
    """The values of a call by their names, that of the one without a name under None."""
    found: dict[str | None, Any] = {}
    for argument in call.arguments:
        if argument.name in found:
            raise fail("NAM005", f"`{argument.name or argument.span.text}` is one too many in this call", argument.span)
        found[argument.name] = evaluate(argument.value, scope)
    return found


def _sqrt(call: tree.Call, scope: Scope, evaluate: Evaluate) -> float:
    (value,) = _values(call, scope, evaluate, 1, 1)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise fail("TYP004", f"`sqrt` takes a number from 0 up, and this is {describe(value)}", call.span)
    return math.sqrt(value)


def _len(call: tree.Call, scope: Scope, evaluate: Evaluate) -> int:
    (value,) = _values(call, scope, evaluate, 1, 1)
    if not isinstance(value, (list, str, Record)):
        raise fail("TYP002", f"`len` takes a list, and this is {describe(value)}", call.span)
    return len(value.values if isinstance(value, Record) else value)


def _range(call: tree.Call, scope: Scope, evaluate: Evaluate) -> list[int]:
    values = _values(call, scope, evaluate, 1, 3)
    if any(isinstance(v, bool) or not isinstance(v, int) for v in values) or (len(values) == 3 and values[2] == 0):
        raise fail("TYP004", "`range` takes whole numbers, and a step other than 0", call.span)
    items = range(*values)
    count = max(0, -((values[0] - values[1]) // values[2])) if len(values) == 3 else max(0, items.stop - items.start)  # len() ends at 2**63
    if count > 10_000:
        raise fail("LIM010", f"a range of {count:,} items is longer than the 10,000 that specc takes", call.span)
    scope.work.spend(count, call.span)
    return list(items)


def _extreme(pick: Callable[..., Any]) -> Callable[[tree.Call, Scope, Evaluate], Any]:
    def function(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Any:
        values = _values(call, scope, evaluate, 1, 8)
        if len(values) == 1:
            if not isinstance(values[0], list) or not values[0]:
                raise fail("TYP010", f"`{call.function.id}` takes 2 to 8 values in order, or a list of them", call.span)
            values = values[0]
        if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in values):
            raise fail("TYP004", f"`{call.function.id}` takes numbers, or a list of them", call.span)
        return pick(values)

    return function


def _same(call: tree.Call, scope: Scope, evaluate: Evaluate) -> LayerRef:
    value, *number = _values(call, scope, evaluate, 1, 2)
    if not isinstance(value, LayerRef):
        raise fail("TYP011", f"`same` takes a layer, and this is {describe(value)}", call.span)
    which = number[0] if number else 0
    if isinstance(which, bool) or not isinstance(which, int) or which < 0:
        raise fail("TYP004", f"`same` counts sets of weights from 0, and this is {describe(which)}", call.span)
    return LayerRef(value.label, which)


def _record(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Record:
    if any(a.name is None for a in call.arguments):
        raise fail("TYP010", "`record` takes named values only", call.span)
    values: dict[str, Any] = {}
    for argument in call.arguments:
        if argument.name in values:
            raise fail("NAM005", f"`{argument.name}` is given twice", argument.span)
        values[argument.name] = _plain(evaluate(argument.value, scope), scope, argument.value.span)
    return Record(values)


def _plain(value: Any, scope: Scope, span: Span) -> Any:
    """A value back to JSON."""
    scope.work.spend(1, span)
    if isinstance(value, Record):
        return value.values
    if isinstance(value, list):
        return [_plain(v, scope, span) for v in value]
    if isinstance(value, Symbol):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise fail("TYP010", f"a record holds numbers, strings, true, false, none, lists and records, not {describe(value)}", span)


def _text(call: tree.Call, scope: Scope, evaluate: Evaluate) -> str:
    """A string with `{name}` replaced by named values; other braces stay."""
    given = {a.name: evaluate(a.value, scope) for a in call.arguments}
    template = given.pop(None, None)
    if not isinstance(template, str) or any(isinstance(v, bool) or not isinstance(v, (int, str)) for v in given.values()):
        raise fail("TYP010", "`text` takes a string, and by name the numbers or words that go into it", call.span)
    for name, value in given.items():
        template = template.replace("{" + str(name) + "}", str(value))
    return template


def _contains(call: tree.Call, scope: Scope, evaluate: Evaluate) -> bool:
    from specc.resolve.evaluate import same  # which reads this module

    items, wanted = _values(call, scope, evaluate, 2, 2)
    if not isinstance(items, (list, str, type(None))):
        raise fail("TYP002", f"`contains` looks in a list or a string, and this is {describe(items)}", call.span)
    if isinstance(items, str):
        if not isinstance(wanted, str):
            raise fail("TYP010", f"`contains` looks for a string in a string, not for {describe(wanted)}", call.span)
        scope.work.spend(len(items) // 64, call.span)
        return wanted in items
    return any(same(item, wanted, scope.work, call.span) for item in items or ())


def _is_list(call: tree.Call, scope: Scope, evaluate: Evaluate) -> bool:
    """Whether a value is a list: some libraries take one number for all layers, or a list of one for each."""
    (value,) = _values(call, scope, evaluate, 1, 1)
    return isinstance(value, list)


def _has(call: tree.Call, scope: Scope, evaluate: Evaluate) -> bool:
    """Whether a config has a field at all, be it null: some libraries give an absent field another meaning than null."""
    record, name = _values(call, scope, evaluate, 2, 2)
    if not isinstance(record, Record) or not isinstance(name, str):
        raise fail("TYP010", "`has` takes a config and a field's name", call.span)
    record.read.add(name)
    return name in record.values


def _stored(call: tree.Call, scope: Scope, evaluate: Evaluate) -> bool | None:
    """Whether the checkpoint beside the config holds a tensor of this name; none where there is no checkpoint."""
    (name,) = _values(call, scope, evaluate, 1, 1)
    tensors = scope.root.variables.get("checkpoint")
    return None if tensors is None else any(t == name or t.endswith(f".{name}") for t in tensors)


ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_fast": "gelu_tanh",
    "gelu_new": "gelu_tanh",
    "gelu_python": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "relu2": "relu2",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
    "xielu": "xielu",
}


CLASS = re.compile(r"\w+?(?:For(?P<task>[A-Z]\w*)|(?P<lm>LMHeadModel)|(?P<bare>(?<!DoubleHeads)(?<!Encoder)(?<!Decoder)Model))")


def _task_of(call: tree.Call, scope: Scope, evaluate: Evaluate) -> str | None:
    """What a published config's class is for: `CausalLM`, `MaskedLM`, `Model` (no head); none where it names no class."""
    (config,) = _values(call, scope, evaluate, 1, 1)
    if not isinstance(config, Record):
        raise fail("TYP010", f"`task_of` takes the config, and this is {describe(config)}", call.span)
    names = config.get("architectures")
    if not names:
        return None
    found = CLASS.fullmatch(names[0]) if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str) else None
    if found is None:
        raise fail("CFG014", f"`architectures` is {names!r}, and specc cannot tell from it which head the model has", call.span)
    return "CausalLM" if found["lm"] else found["task"] or "Model"


def _activation(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Symbol:
    """The activation that published configs call by this name, or the one after it where they name none."""
    given, *default = _values(call, scope, evaluate, 1, 2)
    name = given.get("name") if isinstance(given, Record) else given
    name = default[0] if name is None and default else name
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise fail("CFG013", f"specc has no activation for {describe(name)}", call.span, f"it knows {', '.join(ACTIVATIONS)}")
    return Symbol(ACTIVATIONS[name], call.span)


def _transpose(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    (value,) = _values(call, scope, evaluate, 1, 1)
    return Source("transpose", of=_source(value, call))


def _batched(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    (value,) = _values(call, scope, evaluate, 1, 1)
    return Source("batched", of=_source(value, call))


def _row(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    (value,) = _values(call, scope, evaluate, 1, 1)
    return Source("row", of=_source(value, call))


def _gathered(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    (value,) = _values(call, scope, evaluate, 1, 1)
    source = _source(value, call)
    if source.operation != "tensor" or not all("{r}" in name for name in source.names):
        raise fail("TYP010", "`gathered` takes the name of a row's tensor, in which `{r}` stands for the row's number", call.span)
    return Source("gathered", of=source)


def _fused(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    given = _by_name(call, scope, evaluate)
    order, groups = given.get("order"), given.get("groups", 1)
    fits = None in given and set(given) <= {None, "order", "groups"} and isinstance(order, list) and len(order) > 1
    if not fits or not all(isinstance(part, Symbol) for part in order):
        raise fail("TYP010", "`fused` takes a tensor and `order: [parts]`, and where the parts take turns `groups: n`", call.span)
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
        raise fail("TYP004", f"`groups` is a whole number from 1 up, and this is {describe(groups)}", call.span)
    return Source("fused", of=_source(given[None], call), order=tuple(part.name for part in order), groups=groups)


def _interleaved(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    if any(a.name == "groups" for a in call.arguments):
        raise fail("TYP010", "`interleaved` takes a tensor and `order: [parts]`, and no groups", call.span)
    return replace(_fused(call, scope, evaluate), groups=0)


def _stacked(call: tree.Call, scope: Scope, evaluate: Evaluate) -> Source:
    given = _by_name(call, scope, evaluate)
    if None not in given or set(given) - {None, "flat"} or not isinstance(given.get("flat", False), bool):
        raise fail("TYP010", "`stacked` takes a tensor, and `flat: true` where the experts' rows follow one another", call.span)
    return Source("stacked", of=_source(given[None], call), flat=given.get("flat", False))


def _source(value: Any, call: tree.Call) -> Source:
    if isinstance(value, str):
        return Source("tensor", (value,))
    if not isinstance(value, Source):
        raise fail("TYP009", f"`{call.function.id}` takes a tensor's name, and this is {describe(value)}", call.span)
    return value


FUNCTIONS: dict[str, Callable[[tree.Call, Scope, Evaluate], Any]] = {
    "activation": _activation,
    "batched": _batched,
    "contains": _contains,
    "fused": _fused,
    "gathered": _gathered,
    "interleaved": _interleaved,
    "has": _has,
    "is_list": _is_list,
    "len": _len,
    "max": _extreme(max),
    "min": _extreme(min),
    "range": _range,
    "record": _record,
    "rope_of": rope_of,
    "row": _row,
    "same": _same,
    "sqrt": _sqrt,
    "stacked": _stacked,
    "stored": _stored,
    "task_of": _task_of,
    "text": _text,
    "transpose": _transpose,
}
