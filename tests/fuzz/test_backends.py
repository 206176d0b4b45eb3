"""Random specs: PyTorch and ONNX Runtime compute the same numbers, whatever is combined with whatever.

Each drawn model runs on a full pass, a padded batch and cached steps, with random weights. `python -m tests.fuzz.run` draws
more of them than a test may.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, assume, given, reject, seed, settings

from specc.diagnostics.finding import SpecError
from tests.fuzz.compare import Feed, IllPosed, disagreements, feeds
from tests.fuzz.drawn import specs

CHUNKS, EXAMPLES = 6, 50  # chunks, so that several processes share the work
# what a drawn layer sets may turn out to be used by nothing in it, or its position scheme not to serve its attention
REFUSED = {"LNT002", "CAP006"}


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_both_back_ends_compute_the_same(chunk: int) -> None:
    check(chunk, EXAMPLES)


def check(number: int, examples: int, phases: tuple[Phase, ...] = (Phase.generate, Phase.shrink)) -> None:
    """So many examples of a seed. Fails with the smallest spec on which the back ends part."""

    @seed(number)
    @settings(
        max_examples=examples,
        phases=phases,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(specs(), feeds())
    def agree(text: str, feed: Feed) -> None:
        try:
            parted = disagreements(text, feed)
        except SpecError as error:
            assume(not {d.code for d in error.diagnostics} <= REFUSED)
            raise
        except IllPosed:
            reject()
        assert not parted, f"{parted} on {feed}\n{text}"

    agree()
