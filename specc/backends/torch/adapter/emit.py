"""An adapter as one file of Python that imports only torch, and lays itself over any model of the right shape."""

from __future__ import annotations

import re
import textwrap

from specc.backends.torch.adapter.loops import loops
from specc.backends.torch.environment import component, environment, render
from specc.backends.torch.layout import fit
from specc.backends.torch.numbers import literal
from specc.backends.torch.view import camel
from specc.components.adapter.base import Method, Site
from specc.ir.adapter import Adapter, sites, stays

environment().filters["number"] = literal


def emit_adapter(adapter: Adapter) -> str:
    """The text of the file, formatted. The same adapter gives the same bytes."""
    reason = stays(adapter)
    acting = [(method, sites(method, adapter.base)) for method in adapter.methods]
    everywhere = [site for _, found in acting for site in found]
    attaching, parts = [], {}
    for method, found in acting:
        for title, alike in _by_title(method, found).items():
            macros = component("adapter", method.kind)
            parts[title] = macros.definition(method, alike[0], reason is None).strip()
            settings = macros.settings(method, alike[0])
            verb = {"map": "over", "call": "after"}[method.place]
            statement = f"self.{verb}(model, {{}}, {title}, {settings})"
            attaching += loops([site.key for site in alike], statement, adapter.base.stack.dims.depth)
    places = {method.place for method in adapter.methods}
    definitions = [*parts.values(), render("over_parts", weights="own(" in "".join(parts.values()) or reason is None).strip()]
    text = render(
        "over",
        doc=_doc(adapter.doc or f"{adapter.name}, an adapter over {adapter.base.name}"),
        spec=adapter.name,
        base=adapter.base.name,
        name=camel(adapter.name),
        summary=_summary(adapter),
        constants=[f"LAYERS = {adapter.base.stack.dims.depth}"] if "LAYERS" in " ".join(attaching) else [],
        definitions=definitions,
        attaching=attaching,
        merges=reason is None,
        unmergeable=reason,
        maps="map" in places,
        calls="call" in places,
        entering=any(site.on_input for site in everywhere),
        experts=any(".experts." in site.key for site in everywhere),
        functional=re.search(r"\bF\.", "".join(parts.values())) is not None,
        modules=["math"] if "math." in "".join(parts.values()) else [],
    )
    return fit(text)


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
