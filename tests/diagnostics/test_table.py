"""The table of diagnostics: every entry is raised somewhere, proven by its examples or by a test, and documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import specc
from specc.diagnostics import CODES, Code, Diagnostic
from specc.diagnostics.document import PAGE, ROOMS, page
from tests.diagnostics.checked import codes

SOURCE, TESTS = Path(specc.__file__).parent, Path(__file__).parents[1]
TABLE = SOURCE / "diagnostics" / "table"
CODE = re.compile(r"\b(?:SYN|LIM|NAM|TYP|VAL|SHP|IMG|TRN|CFG|WGT|ADP|CAP|OUT|CHK|LNT|LCK|SYS)\d{3}\b")
WITH_EXAMPLE = [code for code in CODES.values() if code.wrong]
NOT_ALONE = {"LIM015"}  # the hundred findings before it are what it is about


def mentioned(files: list[Path]) -> set[str]:
    return {found for file in files for found in CODE.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("code", WITH_EXAMPLE, ids=lambda code: code.id)
def test_the_wrong_example_gets_its_code(code: Code, tmp_path: Path) -> None:
    found = codes(code.wrong, tmp_path, (code.id,))
    assert code.id in found
    assert code.id in NOT_ALONE or found == [code.id], "other findings distract from the one explained"


@pytest.mark.parametrize("code", WITH_EXAMPLE, ids=lambda code: code.id)
def test_the_right_example_is_clean(code: Code, tmp_path: Path) -> None:
    assert codes(code.right, tmp_path, (code.id,)) == []


def test_wrong_and_right_come_together() -> None:
    assert [code.id for code in CODES.values() if bool(code.wrong) != bool(code.right)] == []


def test_the_table_and_the_code_agree() -> None:
    raised = mentioned([file for file in SOURCE.rglob("*.py") if TABLE not in file.parents and file.stem != "document"])
    assert sorted(raised - CODES.keys()) == [], "raised, and not in the table"
    assert sorted(CODES.keys() - raised) == [], "in the table, and raised by nothing"


def test_every_code_without_an_example_has_a_test_of_its_own() -> None:
    tested = mentioned([file for file in TESTS.rglob("test_*.py") if file != Path(__file__)])
    assert sorted(code.id for code in CODES.values() if not code.wrong and code.id not in tested) == []


def test_entries_are_whole_sentences() -> None:
    for code in CODES.values():
        assert code.title and not code.title.endswith(".") and code.title[0] in "`" + code.title[0].lower(), code.id
        assert code.cause.endswith(".") and 1 <= len(re.findall(r"[.:](?:\s|$)", code.cause)) <= 5, code.id
        assert code.id[:3] in ROOMS


def test_a_code_that_is_not_in_the_table_cannot_be_used() -> None:
    with pytest.raises(KeyError, match="ABC123"):
        Diagnostic("ABC123", "text")


def test_the_committed_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m specc.diagnostics.document"
