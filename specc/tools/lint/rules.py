"""The lint rules: which there are, which are on unless a setting says otherwise, and what they are run with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module

from specc.diagnostics.finding import Diagnostic, Report
from specc.resolve.model import Resolved

Run = Callable[[Resolved], Iterator[Diagnostic]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A lint rule. `default` holds where a published model that breaks it is a surprise; the others are a house's taste."""

    code: str
    place: str
    default: bool

    def run(self) -> Run:
        module, _, name = self.place.partition(":")
        return getattr(import_module(f"specc.tools.lint.{module}"), name)


RULES = {
    rule.code: rule
    for rule in (
        Rule("LNT010", "widths:head_width", True),
        Rule("LNT011", "widths:whole_tiles", False),
        Rule("LNT012", "widths:vocabulary", False),
        Rule("LNT013", "positions:two_schemes", True),
        Rule("LNT014", "positions:past_the_scaling", True),
        Rule("LNT015", "positions:full_turn", True),
        Rule("LNT016", "widths:one_key_head", False),
        Rule("LNT017", "stated:no_budget", False),
        Rule("LNT018", "positions:window_that_holds_all", False),
        Rule("LNT019", "stated:vanishing_eps", False),
        Rule("LNT020", "positions:no_order", True),
    )
}


def lint(resolved: Resolved, codes: Iterable[str], report: Report) -> None:
    """Runs the rules of these codes over one model, over each of its stacks where it has two."""
    views = list(_stacks(resolved)) if len(resolved.model.stacks) > 1 else [resolved]
    for code in codes:
        run = RULES[code].run()
        for view in views:
            report.add(*run(view))


def _stacks(resolved: Resolved) -> Iterator[Resolved]:
    """The model as if it had one stack only, for each of them."""
    for stack in resolved.model.stacks:
        own = resolved.stack_body(stack.name)
        body = replace(resolved.body, fields=own.fields, layers=own.layers)
        yield replace(resolved, model=resolved.model.replaced(stacks=(stack,)), body=body)
