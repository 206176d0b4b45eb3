"""Both published ways to write rope settings, through one normaliser.

Files in the wild have `rope_theta` and `rope_scaling`; newer ones `rope_parameters`, which may hold one record per layer
type (https://huggingface.co/docs/transformers/main/en/internal/rope_utils).
"""

from __future__ import annotations

from typing import Any

from specc.diagnostics.finding import did_you_mean, fail
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, Record, describe
from specc.syntax import tree


def rope_of(call: tree.Call, scope: Scope, evaluate) -> Constructor:
    """`rope_of(config, layer_type?, theta: default, head_dim: width, layout: ..., partial: share)` -> `rope(...)`.

    theta: used where the config names none; head_dim with partial (a share of the head from 0 to 1, used where the config
    names none) gives the number of turned channels.
    """
    positional = [evaluate(a.value, scope) for a in call.arguments if a.name is None]
    named = {a.name: evaluate(a.value, scope) for a in call.arguments if a.name}
    if not 1 <= len(positional) <= 2 or not isinstance(positional[0], Record):
        raise fail("TYP010", "`rope_of` takes the config, and where layers differ the layer's type", call.span)
    if unknown := set(named) - {"theta", "head_dim", "layout", "partial"}:
        raise fail("NAM002", f"`rope_of` has no field `{min(unknown)}`", call.span, did_you_mean(min(unknown), ["theta", "head_dim", "layout", "partial"]))
    settings = _settings(positional[0], positional[1] if len(positional) == 2 else None)
    return _constructor(settings, named, call, scope)


def _settings(config: Record, layer_type: str | None) -> dict[str, Any]:
    """Theta, type, partial factor and the scaling's own fields, whichever way they were written."""
    flat = {"rope_theta": config.get("rope_theta"), "partial_rotary_factor": config.get("partial_rotary_factor")}
    scaling, parameters = config.get("rope_scaling"), config.get("rope_parameters")
    chosen = parameters if isinstance(parameters, Record) else scaling
    record = dict(chosen.values) if isinstance(chosen, Record) else {}
    if any(isinstance(v, dict) for v in record.values()):  # one record per layer type
        record = dict(record.get(layer_type) or {})
    merged = {k: v for k, v in flat.items() if v is not None} | {k: v for k, v in record.items() if v is not None}
    merged.setdefault("rope_type", merged.pop("type", "default"))
    return merged


def _constructor(settings: dict[str, Any], named: dict[str, Any], call: tree.Call, scope: Scope) -> Constructor:
    settings = dict(settings)
    kind = settings.pop("rope_type")
    settings.pop("type", None)
    theta = settings.pop("rope_theta", named.get("theta"))
    partial = settings.pop("partial_rotary_factor", named.get("partial"))
    if kind != "default":
        raise fail("CFG010", f"rope scaling of type `{kind}` cannot be expressed yet", call.span)
    if settings:
        raise fail("CFG011", f"unknown rope setting `{min(settings)}`", call.span)
    if theta is None:
        raise fail("CFG012", "the config names no rope_theta", call.span)
    arguments: dict[str, Any] = {"theta": float(theta)}
    if "layout" in named:
        arguments["layout"] = named["layout"]
    if partial is not None and partial != 1:
        if not isinstance(named.get("head_dim"), int):
            raise fail("TYP010", f"a partial rope needs `head_dim:`, and this is {describe(named.get('head_dim'))}", call.span)
        arguments["partial"] = int(named["head_dim"] * partial)
    return Constructor("rope", tuple(_argument(n, v, call) for n, v in arguments.items()), scope, call.span)


def _argument(name: str, value: Any, call: tree.Call) -> tree.Argument:
    literal = tree.Name(value.name, call.span) if hasattr(value, "name") else tree.Literal(value, call.span)
    return tree.Argument(name, literal, call.span)
