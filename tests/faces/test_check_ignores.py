"""Comments that ignore a finding: where they reach, what they need, and that none outlives its finding."""

from __future__ import annotations

import time

import pytest

from specc.diagnostics.finding import MOST
from specc.diagnostics.table.example import spec
from specc.source import Source
from specc.tools.lint.directives import directives
from tests.faces.check_shell import Shell, check  # noqa: F401  a fixture

IDLE = "inner = 64"


@pytest.mark.parametrize(("text", "codes"), [
    (spec(f"{IDLE}  # specc: ignore[LNT001] for later"), []),
    (spec(f"# specc: ignore[LNT001] for later\n{IDLE}"), []),
    (spec(f"# specc: ignore[LNT001] for later\n\n# about it\n{IDLE}"), []),
    (spec(f"{IDLE}  # of no use # specc: ignore[LNT001] for later"), []),
    (spec(f"{IDLE}  #specc:ignore [LNT001]: for later"), []),
    (spec(IDLE, above="# specc: ignore-file[LNT001] a draft\n"), []),
    (spec(IDLE, above="specc 1\n# a draft\n\n## specc: ignore-file[LNT001] a draft\n"), []),
    (spec(IDLE, "inner2 = 3  # specc: ignore[LNT001] for later"), ["LNT001"]),
    (spec(f"{IDLE}  # specc: ignore[LNT001, CHK001] for later"), ["LNT004"]),
    (spec(f"{IDLE}  # specc: ignore[LNT010] for later"), ["LNT001", "LNT004"]),
    (spec("depth = 2  # specc: ignore[LNT001] for later", depth=None), ["LNT004"]),
    (spec(f"{IDLE}  # specc: ignore[LNT001]"), ["LNT005"]),
    (spec(f"{IDLE}  # specc: ignore[LNT001] -:"), ["LNT005"]),
    (spec(f"{IDLE}  # specc: ignore for later"), ["LNT001", "LNT006"]),
    (spec(f"{IDLE}  # specc: ignore[] for later"), ["LNT001", "LNT006"]),
    (spec(f"{IDLE}  # specc: ignore[LNT1] for later"), ["LNT001", "LNT006"]),
    (spec(f"{IDLE}  # specc: ignore[LNT] for later"), ["LNT001", "LNT006"]),
    (spec(f"{IDLE}  # specc: ignore[LNT001, lnt010] for later"), ["LNT006"]),
    (spec(f"# specc: ignore-file[LNT001] late\n{IDLE}"), ["LNT006", "LNT001"]),
    (spec("mask = casual  # specc: ignore[NAM001] why not", mask=None), ["NAM001", "LNT006"]),
    (spec("checks { depth == 3 }  # specc: ignore[CHK001] until the next release"), []),
    (spec("checks {\n depth == 3\n }  # specc: ignore[CHK001] a line too far"), ["CHK001", "LNT004"]),
    (spec("attention = attention(heads: 2,\n head_dim: 12)  # specc: ignore[LNT010] as published", attention=None), []),
    (spec("# specc: ignore[LNT010] as published\nattention = attention(heads: 2,\n head_dim: 12)", attention=None), []),
    (spec("attention = attention(  # specc: ignore[LNT010] as published\n heads: 2, # ((\n head_dim: 12)", attention=None), []),
    (spec("attention = attention(heads: 2,\n head_dim: 12)\n# specc: ignore[LNT010] too late", attention=None), ["LNT010", "LNT004"]),
    (spec("depth = 2  # specc: ignore[LNT012] where that is looked for", depth=None), []),
    (spec('inner = "# specc: ignore[LNT001] no comment"'), ["LNT001"]),
    (spec("# specc: a language"), []),
    (spec("# specc: ignored by most"), []),
])  # fmt: skip
def test_an_ignore(text: str, codes: list[str], check: Shell) -> None:  # noqa: F811
    check.write(m=text)
    assert check.codes("m.specc") == codes


def test_the_errors_of_ignores_are_errors(check: Shell) -> None:  # noqa: F811
    check.write(m=spec(f"{IDLE}  # specc: ignore[LNT001]"))
    assert check("m.specc")[0] == 1
    check.write(m=spec("# specc: ignore[LNT001] for later"))
    assert check("m.specc")[0] == 0
    assert check("m.specc", "--ignore", "LNT004")[1] == "1 model checked, nothing wrong\n"


def test_an_ignore_is_not_called_idle_where_errors_kept_rules_from_looking(check: Shell) -> None:  # noqa: F811
    text = spec("attention = attention(heads: 2, head_dim: 12)  # specc: ignore[LNT010] as published", attention=None)
    check.write(m=text.replace("causal", "casual"))
    assert check.codes("m.specc") == ["NAM001"]


def test_an_ignore_serves_those_who_use_the_file(check: Shell) -> None:  # noqa: F811
    base = spec("attention = attention(heads: 2)  # specc: ignore[LNT010] the small ones are odd", attention=None)
    base = base.replace("model m", "model base")
    check.write(base=base, m='use "base.specc"\nmodel m extends base { dim = 24 }\n')
    assert check.codes("m.specc") == []
    assert check.codes("base.specc", "m.specc") == check.codes("m.specc", "base.specc") == []
    check.write(base=base.partition("  # specc")[0] + "\n}\n")
    assert check.codes(".") == ["LNT010"]
    assert "m.specc:2:7: in the model `m`, which takes this over" in check(".")[2]


def test_what_two_files_share_is_said_once(check: Shell) -> None:  # noqa: F811
    check.write(base=spec(IDLE).replace("model m", "model base"), inner__m='use "../base.specc"\nmodel m extends base { depth = 3 }\n')
    assert check.codes(".") == check.codes("inner", ".") == ["LNT001"]


def test_windows_lines_and_marks(check: Shell) -> None:  # noqa: F811
    check.write(m="\ufeff" + spec(IDLE, above="# specc: ignore-file[LNT001] a draft\n").replace("\n", "\r\n"))
    assert check.codes("m.specc") == []
    check.write(m=spec(f"# specc: ignore[LNT001]\n{IDLE}").replace("\n", "\r\n"))
    assert check.codes("m.specc") == ["LNT005"], "a line's end is no reason"


def test_a_text_full_of_ignores(check: Shell) -> None:  # noqa: F811
    """Linear in the text."""
    comment = "# specc: ignore[LNT001] ((\n"
    check.write(m=comment * 15_000 + spec("attention = attention(heads: 2)  # specc: ignore[CHK001]", attention=None))
    began = time.process_time()
    codes = check.codes("m.specc")
    assert time.process_time() - began < 3
    assert len(codes) == MOST
    assert check.codes("m.specc", "--ignore", "LNT004") == ["LNT005"]


def test_a_file_without_the_word_costs_nothing() -> None:
    assert directives(Source("m.specc", "# " * 1000)).found == []
