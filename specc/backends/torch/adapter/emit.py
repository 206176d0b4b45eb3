"""An adapter as one file of Python that imports only torch, and lays itself over any model of the right shape."""

from __future__ import annotations

import re
import textwrap

from specc.backends.torch.adapter.ahead import Ahead, prefix_lines
from specc.backends.torch.adapter.loops import loops
from specc.backends.torch.environment import component, environment, render
from specc.backends.torch.layout import fit
from specc.backends.torch.numbers import Constants, Owner, literal
from specc.backends.torch.view import Page, View, camel
from specc.components.adapter.base import Method, Site
from specc.ir.adapter import Adapter, sites, stays
from specc.ir.node import Dims

environment().filters["number"] = literal
ORDER = ("map", "call", "keys", "tokens")  # what changes a row comes before what is put in front of all


def emit_adapter(adapter: Adapter) -> str:
    """The text of the file, formatted. The same adapter gives the same bytes."""
    reason = stays(adapter)
    acting = [(method, sites(method, adapter.base)) for method in sorted(adapter.methods, key=lambda m: ORDER.index(m.place))]
    everywhere = [site for _, found in acting for site in found]
    attaching, parts, page = [], {}, _page(adapter)
    for method, found in acting:
        for title, alike in _by_title(method, found).items():
            macros = _macros(method, page)
            called = page.title(title, macros.definition(method, alike[0], reason is None, "_"))
            parts[called] = macros.definition(method, alike[0], reason is None, called).strip()
            attaching += _attached(adapter, method, alike, called, macros.settings(method, alike[0]))
    front = Ahead.of(adapter)
    ahead_text = render(front.template, **front.context()).strip("\n") if front else ""
    code = "\n".join([*page.definitions["activation"], *parts.values(), ahead_text])
    places = {method.place for method in adapter.methods}
    helpers = render("over_parts", putting=_puts(adapter, ahead_text, attaching), owning="own(slot)" in code, merges=reason is None).strip()
    definitions = [*page.definitions["activation"], *parts.values(), *filter(None, [helpers])]
    used = re.findall(r"\bPREFIX\b|\bPROMPT\b|\bLAYERS\b", "\n".join([code, *attaching]))
    numbers = {"LAYERS": adapter.base.stack.dims.depth} | {method.kind.upper(): method.length for method in adapter.ahead}
    text = render(
        "over",
        doc=_doc(adapter.doc or f"{adapter.name}, an adapter over {adapter.base.name}"),
        spec=adapter.name,
        base=adapter.base.name,
        name=camel(adapter.name),
        summary=_summary(adapter),
        constants=[*page.constants.text(), *(f"{name} = {value}" for name, value in numbers.items() if name in used), *(front.constants() if front else [])],
        definitions=definitions,
        bare=re.search(r"\btorch\.", "\n".join([*definitions, ahead_text])) is not None,
        attaching=attaching,
        merges=reason is None,
        unmergeable=reason,
        maps="map" in places,
        calls="call" in places,
        ahead=front,
        ahead_text=ahead_text,
        entering=any(site.on_input for site in everywhere),
        experts=any(".experts." in site.key for site in everywhere),
        functional=re.search(r"\bF\.", code) is not None,
        modules=[module for module in ("inspect", "math") if f"{module}." in code],
    )
    return fit(text)


def _puts(adapter: Adapter, ahead: str, attaching: list[str]) -> bool:
    """Whether any part is registered under a path of the model's."""
    return any(method.place in ("map", "call") for method in adapter.methods) or "put(" in ahead + "".join(attaching)


def _attached(adapter: Adapter, method: Method, alike: list[Site], called: str, settings: str) -> list[str]:
    """The lines that lay a method's parts over its sites."""
    keys, depth = [site.key for site in alike], adapter.base.stack.dims.depth
    if method.place == "tokens":
        made = [f'table = model.get_submodule("{keys[0]}")', f"prompt = {called}(table, {settings})", f'put(self, "{keys[0]}.prompt", prompt)']
        return [*made, "table.register_forward_hook(lambda table, args, y: prompt(y) if self._added else None)"]
    if method.place == "keys":
        return prefix_lines(adapter, method, alike, called)
    verb = {"map": "over", "call": "after"}[method.place]
    given = [f"width={alike[0].width}"] * (method.place == "call") + [settings]
    return loops(keys, f"self.{verb}({', '.join(['model', '{}', called, *filter(None, given)])})", depth)


def _page(adapter: Adapter) -> Page:
    """What the file defines for the activations of its methods."""
    page = Page(Constants())
    for method in adapter.methods:
        if (held := getattr(method, "activation", None)) is not None:
            page.declare(held)
    return page


def _macros(method: Method, page: Page):
    """The macros of a method's template; `activation` prints the one that it holds around a text."""
    held = getattr(method, "activation", None)
    given = {} if held is None else {"activation": View(page, (held,), Owner(), Dims(dim=0)).apply}
    return environment().get_template(f"adapter/{method.kind}.py.jinja").make_module(given)


def _by_title(method: Method, found: list[Site]) -> dict[str, list[Site]]:
    """The sites of a method by the class that serves them."""
    titles: dict[str, list[Site]] = {}
    for site in found:
        titles.setdefault(component("adapter", method.kind).title(method, site), []).append(site)
    return titles


def _summary(adapter: Adapter) -> str:
    trained = sum(p.size for p in adapter.parameters().values())
    frozen = sum(p.size for p in adapter.base.parameters().values() if p.role != "fixed")
    return f"{trained:,} trained parameters over {frozen:,} frozen ones."


def _doc(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 116).replace("\\", "\\\\").replace('"', '\\"')
