"""A component is found by its name alone: one file each for the code, the template and the formula, and no name twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc import components
from specc.components.registry import AXES, OF_TRAINING, OVER, load, members
from specc.ir.node import Component
from specc.resources import TEMPLATES
from tests.harness import every_kind

CODE = Path(components.__file__).parent
PROBES = Path(__file__).parents[1] / "components"


def _files(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.py")} - {"__init__", "base"}


def test_a_kind_is_on_one_axis_only():
    kinds = [kind for _, kind in every_kind()]
    assert sorted(kinds) == sorted(set(kinds))


def test_every_axis_has_a_folder_and_every_folder_is_an_axis():
    assert {folder.name for folder in CODE.iterdir() if folder.is_dir() and folder.name != "__pycache__"} == {*AXES, *OVER}


@pytest.mark.parametrize("axis", AXES)
def test_every_file_of_an_axis_is_a_member(axis: str):
    assert _files(CODE / axis) == {target.split(":")[0] for target in members(axis).values()}


@pytest.mark.parametrize("axis", [axis for axis in AXES if axis not in OF_TRAINING])
def test_the_folder_of_formulas_holds_the_members(axis: str):
    assert _files(PROBES / axis) == set(members(axis))


@pytest.mark.parametrize(("axis", "kind"), every_kind())
def test_a_member_is_what_its_name_says(axis: str, kind: str):
    cls = load(axis, kind)
    assert issubclass(cls, Component)
    assert cls.axis == axis
    assert cls.model_fields["kind"].default == kind
    assert members(axis)[kind].split(":")[0] == kind, "the file is named after the kind"
    assert cls.__doc__ and cls.__doc__ != Component.__doc__


@pytest.mark.parametrize(("axis", "kind"), every_kind())
def test_every_kind_has_its_template(axis: str, kind: str):
    assert (TEMPLATES / "torch" / axis / f"{kind}.py.jinja").is_file()


@pytest.mark.parametrize("axis", AXES)
def test_every_template_has_its_kind(axis: str):
    names = {file.name.removesuffix(".py.jinja") for file in (TEMPLATES / "torch" / axis).glob("*.py.jinja")}
    assert names - {"base"} == set(members(axis))


@pytest.mark.parametrize(("axis", "kind"), every_kind())
def test_a_default_is_not_a_guess(axis: str, kind: str):
    """What an argument without a name sets is a field that exists."""
    cls = load(axis, kind)
    assert set(cls.positional) <= set(cls.model_fields) - {"kind"}
    assert len(set(cls.positional)) == len(cls.positional)
