"""Lint rules on what a model states: a budget, and numbers that half precision cannot hold."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics.finding import Diagnostic
from specc.resolve.model import Resolved
from specc.syntax import tree
from specc.tools.lint.blame import parts, place, warning

TINY = 2.0**-24  # the least number above 0 in float16


def no_budget(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT017"""
    own = resolved.definition
    if not any(isinstance(check.fact, tree.Name) and check.fact.id == "params" for check in resolved.body.checks):
        message = f"no check holds the parameters of `{own.name}`, so a change of them passes unseen"
        yield warning(resolved, "LNT017", message, own.name_span, "`specc stats` counts them: `checks { params == ... }`")


def vanishing_eps(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT019"""
    for layer, part in parts(resolved):
        eps = getattr(part.component, "eps", None)
        if isinstance(eps, float) and 0 < eps < TINY:
            message = f"an eps of {eps:g} is 0 in float16, whose least number is {TINY:.0e}"
            help = "1e-5 and 1e-6 are usual; bfloat16 and float32 hold this one"
            yield warning(resolved, "LNT019", message, place(resolved, part.path, "eps", layer), help)
