"""How much evaluating one program may cost, so that no input keeps the compiler busy or drives it out of its stack."""

from __future__ import annotations

from dataclasses import dataclass

from specc.diagnostics.finding import Diagnostic, SpecError, fail
from specc.source import Span

STEPS = 500_000  # an expression evaluated, an item of a list made or compared: about a second on a slow machine
DEPTH = 600  # frames of Python's stack, which holds 1,000; a single expression takes at most 400 (specc.syntax.limits.CHAIN)

# what larger pieces of work cost, in steps
MODEL, COMPONENT, CALL, LAYER = 800, 12, 25, 10


@dataclass(slots=True)
class Work:
    """What has been spent so far, and how deep the evaluation stands, in frames of the stack."""

    steps: int = 0
    depth: int = 0
    refusal: Diagnostic | None = None

    def spend(self, steps: int, span: Span) -> None:
        """Counts work. Raises SpecError when there was too much; from then on always the same, so that it is reported once."""
        self.steps += steps
        if self.steps > STEPS:
            if self.refusal is None:
                self.refusal = Diagnostic("LIM013", f"evaluating this file takes more than {STEPS:,} steps", span)
            raise SpecError([self.refusal])

    def too_deep(self, span: Span) -> SpecError:
        return fail("LIM016", "the values of names lead to one another too deep", span, "a value may rest on others about 100 deep")
