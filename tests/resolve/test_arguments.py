"""Arguments without a name: some components take their first fields so, in order."""

from __future__ import annotations

import pytest

from specc.diagnostics.finding import SpecError
from tests.components.probe import spec
from tests.harness import model_of


def mask(text: str):
    return model_of(spec(mask=text)).stack.layers[0].mask


def wrong(text: str) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as caught:
        mask(text)
    return [(d.code, d.message) for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    "text", ["window(3, 5)", "window(3, right: 5)", "window(left: 3, right: 5)", "window(right: 5, left: 3)", "window(right - 2, right: 5)"]
)
def test_two_fields_in_order(text: str):
    assert (mask(text).left, mask(text).right) == (3, 5)


def test_modernberts_window():
    found = mask("window(64, 64)")
    assert (found.left, found.right, found.reach, found.causal) == (64, 64, 129, False)


def test_a_second_argument_of_one_that_takes_one():
    assert wrong("sliding(4, 5)") == [("NAM003", "`sliding` takes only `window` without a name")]


def test_a_third_argument_of_one_that_takes_two():
    assert wrong("window(3, 4, 5)") == [("NAM003", "`window` takes only `left` and `right` without a name")]


def test_a_field_given_with_its_name_and_without():
    assert wrong("window(3, left: 4, right: 5)") == [("NAM005", "`left` is given twice")]
    assert wrong("window(right: 3, 4)") == [("NAM005", "`right` is given twice")]


def test_an_argument_left_out_has_no_default():
    assert wrong("window(64)") == [("VAL002", "`window` needs `right:`")]
    assert wrong("documents") == [("VAL002", "`documents` needs `inner:`")]


def test_values_out_of_range():
    assert wrong("window(-1, 4)") == [("VAL001", "`left` must be at least 0, and it is the number -1")]
    assert wrong("sliding(0)") == [("VAL001", "`window` must be greater than 0, and it is the number 0")]
    assert wrong("chunked(0)") == [("VAL001", "`size` must be greater than 0, and it is the number 0")]
    assert wrong("sliding(4, keep_first: -1)")[0][0] == "VAL001"


def test_a_mask_within_a_mask():
    found = mask("documents(sliding(4, keep_first: 1))")
    assert (found.inner.window, found.inner.keep_first, found.reach, found.causal) == (4, 1, 5, True)
    assert mask("documents(window(1, 2))").causal is False
    assert wrong("documents(rope)")[0][0] == "NAM001"


def test_neutral_fields_leave_the_fingerprint_as_it_was():
    from specc.ir.fingerprint import fingerprint

    assert fingerprint(model_of(spec(mask="sliding(4)"))) == fingerprint(model_of(spec(mask="sliding(4, keep_first: 0)")))
    assert fingerprint(model_of(spec(mask="sliding(4)"))) != fingerprint(model_of(spec(mask="sliding(4, keep_first: 1)")))
