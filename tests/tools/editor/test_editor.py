"""What an editor asks, asked at every place of real files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from specc.components.registry import AXES, members
from specc.resolve.parts import INNER, KNOWN, OF_FAMILIES
from specc.resources import SPECS
from specc.tools.editor import wording
from specc.tools.editor.analysis import analyse
from specc.tools.editor.complete import complete
from specc.tools.editor.hover import hover
from specc.tools.editor.names import Names
from specc.tools.editor.project import Project
from specc.tools.editor.rename import Refused, occurrences, renamable, rename

FILES = [
    *sorted((SPECS / "models").glob("*.specc"))[::9],
    *sorted((SPECS / "families").glob("*.specc"))[::9],
    SPECS / "std" / "blocks.specc",
]
TWO = """\
model two {
  vocab = 64  dim = 16  context = 32  norm = rms(eps: 1e-5)  final_norm = norm  head = lm(tied: true)  position = rope
  attention = attention(heads: 2)  ffn = mlp(hidden: 32, activation: relu)
  encoder { depth = 2  mask = bidirectional  block = pre_norm }
  decoder {
    depth = 2  mask = causal  block = pre_norm_cross
    cross = attention(heads: 4, head_dim: 8)
  }
}
"""


def opened(text: str, name: str = "example.specc") -> tuple[Project, Path]:
    path = Path(name).resolve()
    return Project(buffers={path: text}), path


def labels(text: str) -> list[str]:
    project, path = opened(text.replace("|", "", 1))
    return [one.label for one in complete(project, analyse(project, path), text.index("|"))[1]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_name_of_a_file_has_an_answer(file: Path):
    project = Project()
    analysis = analyse(project, file)
    assert analysis.found == []
    for found in project.outline(file).occurrences:
        told = hover(project, analysis, found.start)
        if found.kind in ("model", "layer", "block") or (found.kind == "field" and found.name in KNOWN):
            assert told is not None and (told.start, told.end) == (found.start, found.end), found
        for place in Names(project, file).definitions(found):
            if found.kind != "file":
                text = project.outline(place.path).text[place.start : place.end]
                assert text == found.name or found.kind == "label", (found, text)
    for offset in range(0, len(analysis.source.text), 37):
        start, items = complete(project, analysis, offset)
        assert start <= offset and all(one.label for one in items)


def test_every_field_of_a_model_is_explained():
    assert not [name for name in (*KNOWN, *OF_FAMILIES) if not wording.field_doc(name)]
    assert not [axis for axis in (*AXES, "adapter") if not wording.axis_doc(axis)]


def test_stacks_and_adapters_are_completed_and_explained():
    assert {"lora", "prefix"} <= set(labels('adapter a for "base.specc" {\n  |\n}'))
    assert {"rank", "alpha", "targets"} <= set(labels('adapter a for "base.specc" {\n  lora(|'))
    assert set(members("attention")) <= set(labels("model m { decoder { cross = |"))
    assert set(KNOWN) - set(INNER) - set(OF_FAMILIES) <= set(labels("model m { encoder { |"))
    project, path = opened(TWO)
    analysis = analyse(project, path)
    assert analysis.found == []
    found = hover(project, analysis, TWO.index("cross = ") + 8)
    assert "| `heads` | `4` |" in found.text and "in its 2 instances" in found.text
    assert "encoder: 2 layers" in hover(project, analysis, TWO.index("two")).text


def test_a_rename_keeps_every_model_what_it_was():
    """Each name of the user's own in real files, given another one."""
    count = 0
    for file in FILES[::4]:
        project = Project()
        seen = set()
        for found in project.outline(file).occurrences:
            if found.name in seen or renamable(project, file, found.start) is None:
                continue
            if found.name == "config":  # a base and what extends it read it by the same name
                with suppress(Refused):
                    rename(project, file, found.start, "a_new_name")
                continue
            seen.add(found.name)
            places = rename(project, file, found.start, "a_new_name")
            assert any(p.start == found.start for p in places[file.resolve()]), found
            assert sum(map(len, places.values())) == len(occurrences(project, file, found))
            count += 1
    assert count > 10
