"""The import itself: the tensors of the file decide where the adapter acts, and the config must agree with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import Report, fail
from specc.ir.model import Model
from specc.resolve.adapter import resolve_adapter
from specc.resolve.program import load_source
from specc.source import Source
from specc.syntax.format import format_text
from specc.tools.importer.adapter.config import natural, positive, read_adapter_config, switch
from specc.tools.importer.adapter.patterns import matches_end, matches_whole, value_of
from specc.tools.importer.adapter.roles import Roles
from specc.tools.importer.run import Imported
from specc.weights.adapter.experts import experts
from specc.weights.adapter.held import open_adapter
from specc.weights.adapter.modules import Module, modules
from specc.weights.adapter.published import FILE, PREFIX, read_published


def import_adapter(folder: Path, over: Path, base: Model, out: Path | None, name: str, allow: frozenset[str] = frozenset()) -> Imported:
    """peft's folder to an adapter over the model `base` of the spec `over`, to be written to `out`. Raises SpecError."""
    report = Report()
    kind, config = read_adapter_config(folder, report, allow)
    calls = {"lora": _lora, "ia3": _ia3, "prefix": _ahead, "prompt": _ahead}[kind](kind, config, folder, base, report)
    target = os.path.relpath(over, out.parent if out is not None else Path("."))
    lines = [f"## Imported from a peft config of type {config['peft_type']}.", f'adapter {name} for "{target}" {{', *calls, "}"]
    place = out if out is not None else Path(f"{name}.specc")
    text = format_text(Source(place.name, "\n".join(lines) + "\n"))
    program = load_source(Source(place.name, text), place)
    resolved = resolve_adapter(program.adapters[name], program, Report())
    open_adapter(folder, resolved.adapter)  # every tensor has its place
    return Imported(text, name, tuple(d for d in report.found if d.severity == "warning"))


def _lora(kind: str, config: dict[str, Any], folder: Path, base: Model, report: Report) -> list[str]:
    tensors = read_published(folder)
    found: dict[str, list[tuple[str, ...]]] = {}
    stacked = experts(base, tensors, PREFIX)
    taken = {name for pair in stacked for name in (pair.a, pair.b)}
    rank, dora = natural(config, "r", 8), switch(config, "use_dora")

    def add(module: str, slots: list[tuple[str, ...]], given: int) -> None:
        if given != (asked := value_of(config.get("rank_pattern"), module, rank)):
            raise fail("ADP009", f"the config gives `{module}` rank {asked!r}, and {FILE} holds rank {given}")
        alpha = positive(value_of(config.get("alpha_pattern"), module, config.get("lora_alpha", 8)), "lora_alpha")
        found.setdefault(f"rank: {given}, alpha: {alpha}", []).extend(slots)

    for pair in stacked:
        named = config.get("target_parameters")
        if not isinstance(named, list) or not any(isinstance(n, str) and matches_end(n.rpartition(".")[0], pair.module) for n in named):
            raise fail("ADP009", f"{FILE} holds tensors for the experts of `{pair.module}`, which `target_parameters` does not name")
        add(pair.module, list(pair.slots), pair.rank)
    known = _known(base)
    for name, suffix in ((n, s) for n in tensors if n not in taken for s in (".lora_A.weight", ".lora_embedding_A") if n.endswith(s)):
        module = _module(name, suffix, known)
        _agrees(config, module.name)
        add(module.name, [module.slots], tensors[name].shape[0])
    if not found:
        raise fail("ADP009", f"{FILE} holds no LoRA tensors of this model", help="is it an adapter of the model that --over names?")
    _all_found(config, known, [m for m in known if any(n.startswith(f"{PREFIX}{m}.lora_") for n in tensors)], report)
    settings = ["rank_stabilised: true"] * switch(config, "use_rslora")
    settings += ["dora: true"] * dora
    if config.get("lora_dropout"):
        settings.append(f"dropout: {positive(config['lora_dropout'], 'lora_dropout')}")
    return _calls(base, {", ".join([how, *settings]): slots for how, slots in found.items()}, "lora", "targets")


def _ia3(kind: str, config: dict[str, Any], folder: Path, base: Model, report: Report) -> list[str]:
    tensors, known = read_published(folder), _known(base)
    after, before = [], []
    for name in tensors:
        if not name.endswith(".ia3_l"):
            continue
        module = _module(name, ".ia3_l", known)
        _agrees(config, module.name)
        inward = _listed(config.get("feedforward_modules"), module.name)
        if (tensors[name].shape[0] == 1) != inward and max(tensors[name].shape) > 1:
            raise fail("ADP009", f"`feedforward_modules` and the shape of `{name}` do not agree on which side of the map is scaled")
        (before if inward else after).append(module.slots)
    if not after and not before:
        raise fail("ADP009", f"{FILE} holds no IA3 tensors of this model")
    roles, calls = Roles(base), {}
    for field, slots in (("after", after), ("before", before)):
        for layers, targets in roles.grouped(slots).items():
            calls.setdefault(layers, []).append(f"{field}: [{', '.join(targets)}]")
    return [f"  ia3({', '.join([*given, *_layers(layers)])})" for layers, given in calls.items()]


def _ahead(kind: str, config: dict[str, Any], folder: Path, base: Model, report: Report) -> list[str]:
    length = natural(config, "num_virtual_tokens")
    _agrees_in_size(kind, config, base)
    if switch(config, "prefix_projection"):
        report.warn("ADP010", "`prefix_projection` was of training: the file holds the keys and values that came out of it")
    if kind == "prompt" and any(getattr(i.component, "scale", 1.0) != 1 for i in base.stack.embedding.instances):
        raise fail("ADP009", "this model scales its embedded tokens, and published models differ in whether they scale a prompt with them")
    return [f"  {kind}(length: {length})"]


def _agrees_in_size(kind: str, config: dict[str, Any], base: Model) -> None:
    """The sizes that the config states are the model's: they say how the one tensor is cut."""
    attentions = [i.component for layer in base.stack.layers for i in layer.instances if hasattr(i.component, "kv_heads") and i.memory is None]
    wanted = {"token_dim": base.stacks[0].dims.dim}
    if kind == "prefix" and attentions:
        first = attentions[0]
        wanted = {"num_layers": base.stack.dims.depth, "num_attention_heads": first.kv_heads, "token_dim": first.kv_heads * first.head_dim}
    for name, size in wanted.items():
        if config.get(name) is not None and natural(config, name) != size:
            raise fail("ADP009", f"`{name}` is {config[name]}, and this model's is {size}", help="is it an adapter of the model that --over names?")


# ---- modules


def _known(base: Model) -> dict[str, Module]:
    if not base.weights:
        raise fail("ADP009", f"the model `{base.name}` has no `weights` section, which says what published modules are called")
    return {name: module for weight_map in base.weights for name, module in modules(base, weight_map).items()}


def _module(tensor: str, suffix: str, known: dict[str, Module]) -> Module:
    name = tensor.removeprefix(PREFIX).removesuffix(suffix)
    if name not in known:
        raise fail("ADP009", f"`{tensor}` belongs to no linear map or table of this model", help="the spec that --over names must be the adapter's model")
    return known[name]


def _listed(given: Any, module: str) -> bool:
    """Whether a field of names, or of one pattern, means a module."""
    if isinstance(given, str):
        return given == "all-linear" or matches_whole(given, module)
    return isinstance(given, list) and any(isinstance(name, str) and matches_end(name, module) for name in given)


def _agrees(config: dict[str, Any], module: str) -> None:
    """The config's own fields must lead to a module whose tensors the file holds."""
    if config.get("target_modules") is not None and not _listed(config["target_modules"], module):
        raise fail("ADP009", f"{FILE} holds tensors for `{module}`, which `target_modules` does not name")
    if config.get("exclude_modules") and _listed(config["exclude_modules"], module):
        raise fail("ADP009", f"{FILE} holds tensors for `{module}`, which `exclude_modules` names")
    layers = config.get("layers_to_transform")
    if layers is not None:
        numbers = [int(part) for part in module.split(".") if part.isdigit()]
        if not numbers or numbers[0] not in (layers if isinstance(layers, list) else [layers]):
            raise fail("ADP009", f"{FILE} holds tensors for `{module}`, which is in no layer of `layers_to_transform`")


def _all_found(config: dict[str, Any], known: dict[str, Module], held: list[str], report: Report) -> None:
    """A module that the config names and the file has nothing for is told of."""
    given = config.get("target_modules")
    for name in given if isinstance(given, list) else ():
        if isinstance(name, str) and not any(matches_end(name, module) for module in held):
            report.warn("ADP010", f"`target_modules` names `{name[:80]}`, and {FILE} holds no tensors for it")


# ---- text


def _calls(base: Model, found: dict[str, list[tuple[str, ...]]], kind: str, field: str) -> list[str]:
    roles, lines = Roles(base), []
    for settings, slots in found.items():
        for layers, targets in roles.grouped(slots).items():
            where = f"{field}: [{', '.join(targets)}]"
            lines.append(f"  {kind}({', '.join([settings, where, *_layers(layers)])})")
    return lines


def _layers(layers: tuple[int, ...] | None) -> list[str]:
    return [] if layers is None else [f"layers: [{', '.join(map(str, layers))}]"]
