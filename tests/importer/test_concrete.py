"""What an import prints stands alone."""

from __future__ import annotations

from pathlib import Path

from specc.diagnostics import Report
from specc.resolve.model import resolve
from specc.resolve.program import load
from specc.resolve.values import Record
from specc.syntax import tree
from specc.tools.importer.concrete import concrete_file

FAMILY = """\
specc 1

block pre_norm(x) {
  final_norm = norm
  x = x + 0.5 * attention(norm.attention(x))
}

model own(config) {
  vocab     = config.vocab_size
  dim       = 16
  depth     = 1
  context   = 8
  position  = none
  mask      = causal
  norm      = rms(eps: 1e-5)
  attention = attention(heads: 2)
  block     = pre_norm
  head      = hidden
}
"""


def test_a_block_of_a_familys_own_is_printed_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "own.specc"
    path.write_text(FAMILY)
    program = load(path)
    resolved = resolve(program.models["own"], program, Report(), Record({"vocab_size": 7}))
    printed = concrete_file(resolved, program, "own", "", 1)
    assert [item.name for item in printed.items if isinstance(item, tree.Block)] == ["pre_norm"]
