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

FIELDS = ("theta", "head_dim", "layout", "partial", "backward", "sections")


def rope_of(call: tree.Call, scope: Scope, evaluate) -> Constructor:
    """`rope_of(config, layer_type?, theta: default, head_dim: width, layout: ..., partial: share)` -> `rope(...)`.

    theta: used where the config names none; head_dim with partial (a share of the head from 0 to 1, used where the config
    names none) gives the number of turned channels. sections: those of a family with positions on several axes, used where the
    config names none.
    """
    positional = [evaluate(a.value, scope) for a in call.arguments if a.name is None]
    named = {a.name: evaluate(a.value, scope) for a in call.arguments if a.name}
    if not 1 <= len(positional) <= 2 or not isinstance(positional[0], Record):
        raise fail("TYP010", "`rope_of` takes the config, and where layers differ the layer's type", call.span)
    if unknown := set(named) - set(FIELDS):
        raise fail("NAM002", f"`rope_of` has no field `{min(unknown)}`", call.span, did_you_mean(min(unknown), FIELDS))
    settings = _settings(positional[0], positional[1] if len(positional) == 2 else None, call)
    return _constructor(settings, named, positional[0], call, scope)


def _settings(config: Record, layer_type: str | None, call: tree.Call) -> dict[str, Any]:
    """Theta, type, partial factor and the scaling's own fields, whichever way they were written."""
    flat = {"rope_theta": config.get("rope_theta"), "partial_rotary_factor": config.get("partial_rotary_factor")}
    scaling, parameters = config.get("rope_scaling"), config.get("rope_parameters")
    chosen = parameters if isinstance(parameters, Record) else scaling
    record = dict(chosen.values) if isinstance(chosen, Record) else {}
    if any(isinstance(v, dict) for v in record.values()):  # one record per layer type
        if not isinstance(record.get(layer_type), dict):
            kind = "every layer" if layer_type is None else f"layers of type `{layer_type}`"
            raise fail("CFG011", f"the config's rope settings are per layer type, and have none for {kind}", call.span)
        record = dict(record[layer_type])
    merged = {k: v for k, v in flat.items() if v is not None} | {k: v for k, v in record.items() if v is not None}
    merged.setdefault("rope_type", merged.pop("type", "default"))
    return merged


def _constructor(settings: dict[str, Any], named: dict[str, Any], config: Record, call: tree.Call, scope: Scope) -> Constructor:
    settings = dict(settings)
    kind = settings.pop("rope_type")
    settings.pop("type", None)
    if sections := named.get("sections"):
        sections, kind = settings.pop("mrope_section", sections), "default" if kind == "mrope" else kind
    theta = settings.pop("rope_theta", named.get("theta"))
    partial = settings.pop("partial_rotary_factor", named.get("partial"))
    if kind == "proportional":  # its share is the scaling's own
        settings["share"], partial = 1.0 if partial is None else partial, None
    scaling = _scaling(kind, settings, config, call, scope)
    if theta is None:
        raise fail("CFG012", "the config names no rope_theta", call.span)
    arguments: dict[str, Any] = {"theta": float(theta)}
    arguments |= {name: named[name] for name in ("layout", "backward") if name in named}
    if partial is not None and partial != 1:
        if not isinstance(named.get("head_dim"), int):
            raise fail("TYP010", f"a partial rope needs `head_dim:`, and this is {describe(named.get('head_dim'))}", call.span)
        arguments["partial"] = int(named["head_dim"] * partial)
    if scaling is not None:
        arguments["scaling"] = scaling
    if sections is not None:
        arguments["sections"] = sections
    return Constructor("rope", tuple(_argument(n, v, call) for n, v in arguments.items()), scope, call.span)


# published setting -> specc's field, by kind of scaling
NAMES = {
    "linear": {"factor": "factor"},
    "dynamic": {"factor": "factor"},
    "llama3": {"factor": "factor", "low_freq_factor": "low", "high_freq_factor": "high", "original_max_position_embeddings": "original"},
    "yarn": {
        "factor": "factor",
        "original_max_position_embeddings": "original",
        "beta_fast": "beta_fast",
        "beta_slow": "beta_slow",
        "truncate": "truncate",
        "attention_factor": "attention_factor",
        "mscale": "mscale",
        "mscale_all_dim": "mscale_all_dim",
    },
    "longrope": {
        "short_factor": "short",
        "long_factor": "long",
        "original_max_position_embeddings": "original",
        "factor": "factor",
        "attention_factor": "attention_factor",
    },
    "proportional": {"share": "share", "factor": "factor"},
}
OTHER_NAMES = {"su": "longrope", "ntk": "dynamic"}  # older files
WHOLE = ("original",)


def _scaling(kind: str, settings: dict[str, Any], config: Record, call: tree.Call, scope: Scope) -> tree.Expr | None:
    """The published settings of one kind of scaling as a constructor's call."""
    kind = OTHER_NAMES.get(kind, kind)
    if kind == "default":
        settings.pop("factor", None) if settings.get("factor") == 1 else None
        settings.pop("original_max_position_embeddings", None)
        if settings:
            raise fail("CFG011", f"unknown rope setting `{min(settings)}`", call.span)
        return None
    if kind not in NAMES:
        raise fail("CFG010", f"rope scaling of type `{kind}` cannot be expressed yet", call.span)
    if kind in ("yarn", "longrope"):
        _trained_context(kind, settings, config, call)
    if unknown := sorted(settings.keys() - NAMES[kind].keys()):
        raise fail("CFG011", f"unknown rope setting `{unknown[0]}` for `{kind}`", call.span)
    given = {NAMES[kind][name]: value for name, value in settings.items()}
    arguments = tuple(tree.Argument(n, _literal(n, v, call), call.span) for n, v in given.items())
    return tree.Call(tree.Name(kind, call.span), arguments, call.span)


def _trained_context(kind: str, settings: dict[str, Any], config: Record, call: tree.Call) -> None:
    """Fills in what the published loader derives: the trained context, and the factor from the two contexts."""
    context = config.get("max_position_embeddings")
    original = config.get("original_max_position_embeddings") or settings.get("original_max_position_embeddings") or context
    settings["original_max_position_embeddings"] = original
    if settings.get("factor") is None and isinstance(context, int) and isinstance(original, int) and original:
        settings["factor"] = context / original
    amplitudes = [settings.pop(name) for name in ("short_mscale", "long_mscale") if settings.get(name) is not None]
    if amplitudes and amplitudes != amplitudes[:1] * 2:
        raise fail("CFG011", f"`short_mscale` and `long_mscale` of `{kind}` are not two equal numbers, and specc has one amplitude", call.span)
    if amplitudes:
        settings["attention_factor"] = amplitudes[0]
    if kind == "yarn":
        for name in ("beta_fast", "beta_slow", "mscale", "mscale_all_dim"):
            if not settings.get(name, 1):
                del settings[name]  # zero stands for the default
        if settings.get("attention_factor") is not None or ("mscale" in settings) != ("mscale_all_dim" in settings):
            settings.pop("mscale", None), settings.pop("mscale_all_dim", None)


def _literal(name: str, value: Any, call: tree.Call) -> tree.Expr:
    if isinstance(value, list):
        return tree.ListOf(tuple(tree.Literal(float(v), call.span) for v in value), call.span)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return tree.Literal(int(value) if name in WHOLE else float(value), call.span) if number else tree.Literal(value, call.span)


def _argument(name: str, value: Any, call: tree.Call) -> tree.Argument:
    if isinstance(value, tree.Call):
        return tree.Argument(name, value, call.span)
    if isinstance(value, (list, tuple)):
        return tree.Argument(name, tree.ListOf(tuple(tree.Literal(item, call.span) for item in value), call.span), call.span)
    literal = tree.Name(value.name, call.span) if hasattr(value, "name") else tree.Literal(value, call.span)
    return tree.Argument(name, literal, call.span)
