"""An adapter as one file of Python that imports only torch, and lays itself over any model of the right shape."""

from __future__ import annotations

import re
import textwrap

from specc.backends.torch.adapter.loops import loops
from specc.backends.torch.environment import component, environment, render
from specc.backends.torch.layout import fit
from specc.backends.torch.numbers import Constants, Owner, literal
from specc.backends.torch.view import Page, View, camel
from specc.components.adapter.base import Method, Site
from specc.ir.adapter import Adapter, sites, stays
from specc.ir.node import Dims

environment().filters["number"] = literal


def emit_adapter(adapter: Adapter) -> str:
    """The text of the file, formatted. The same adapter gives the same bytes."""
    reason = stays(adapter)
    acting = [(method, sites(method, adapter.base)) for method in adapter.methods]
    everywhere = [site for _, found in acting for site in found]
    attaching, parts, page = [], {}, _page(adapter)
    for method, found in acting:
        for title, alike in _by_title(method, found).items():
            macros = _macros(method, page)
            called = page.title(title, macros.definition(method, alike[0], reason is None, "_"))
            parts[called] = macros.definition(method, alike[0], reason is None, called).strip()
            settings = [f"width={alike[0].width}"] * (method.place == "call") + [macros.settings(method, alike[0])]
            verb = {"map": "over", "call": "after"}[method.place]
            statement = f"self.{verb}({', '.join(['model', '{}', called, *filter(None, settings)])})"
            attaching += loops([site.key for site in alike], statement, adapter.base.stack.dims.depth)
    places = {method.place for method in adapter.methods}
    definitions = [*page.definitions["activation"], *parts.values(), render("over_parts", weights=reason is None or re.search(r"\bown\(", "".join(parts.values())) is not None).strip()]
    text = render(
        "over",
        doc=_doc(adapter.doc or f"{adapter.name}, an adapter over {adapter.base.name}"),
        spec=adapter.name,
        base=adapter.base.name,
        name=camel(adapter.name),
        summary=_summary(adapter),
        constants=[*page.constants.text(), *[f"LAYERS = {adapter.base.stack.dims.depth}"] * ("LAYERS" in " ".join(attaching))],
        definitions=definitions,
        attaching=attaching,
        merges=reason is None,
        unmergeable=reason,
        maps="map" in places,
        calls="call" in places,
        entering=any(site.on_input for site in everywhere),
        experts=any(".experts." in site.key for site in everywhere),
        functional=re.search(r"\bF\.", "".join(definitions)) is not None,
        modules=["math"] if "math." in "".join(parts.values()) else [],
    )
    return fit(text)


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
