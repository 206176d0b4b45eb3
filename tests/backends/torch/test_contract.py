"""Every template defines what its axis asks for, and nothing but itself knows its kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specc.backends import torch as backend
from specc.backends.torch.contract import MACROS
from specc.backends.torch.environment import component
from specc.backends.torch.view import View
from specc.components.registry import AXES, OVER, load, members
from specc.resources import TEMPLATES

FOLDER = TEMPLATES / "torch"
KINDS = [(axis, kind) for axis in AXES for kind in members(axis)]
TOOLS = {name for name in vars(View) if not name.startswith("_")} | {"name"}


def test_every_axis_has_a_contract():
    assert set(MACROS) == set(AXES)


@pytest.mark.parametrize(("axis", "kind"), KINDS)
def test_a_template_defines_the_macros_of_its_axis(axis: str, kind: str):
    module = component(axis, kind)
    assert all(callable(getattr(module, macro, None)) for macro in MACROS[axis])


@pytest.mark.parametrize(("axis", "kind"), KINDS)
def test_a_template_reads_every_field(axis: str, kind: str):
    """A field that no line of the template asks for would be silently ignored."""
    text = (FOLDER / axis / f"{kind}.py.jinja").read_text()
    text += "".join((FOLDER / name).read_text() for name in re.findall(r'{% (?:from|import) "(.+?)"', text))
    read = set(re.findall(r"\bc\.(\w+)", text)) | set(re.findall(r'"(\w+)"', text))
    for template in FOLDER.rglob("*.jinja"):  # a field may be read by the template that holds the component in a slot
        read |= set(re.findall(rf"\bc\.{axis}\.(\w+)", template.read_text()))
    assert set(load(axis, kind).model_fields) - {"kind"} <= read


@pytest.mark.parametrize(("axis", "kind"), KINDS)
def test_the_constants_that_a_template_names_are_fields(axis: str, kind: str):
    names = getattr(component(axis, kind), "names", {})
    assert all(name in load(axis, kind).model_fields or hasattr(load(axis, kind), name) for name in names)


@pytest.mark.parametrize(("axis", "kind"), KINDS)
def test_no_field_is_called_like_a_tool_of_the_view(axis: str, kind: str):
    assert not TOOLS & set(load(axis, kind).model_fields)


def test_every_template_is_a_component_or_of_the_frame():
    found = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py.jinja")}
    parts = {f"{axis}/{kind}.py.jinja" for axis, kind in [*KINDS, *((axis, kind) for axis in OVER for kind in members(axis))]}
    assert parts <= found
    assert all("/" not in name for name in found - parts)


def test_the_back_end_asks_for_no_kind():
    """What differs between variants stands in their templates: here no line names one."""
    for file in Path(backend.__file__).parent.glob("*.py"):
        text = file.read_text()
        assert ".kind ==" not in text and "isinstance(component," not in text, file.name
