"""A field that a config leaves out has the value that the published loader gives it, in every family."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.diagnostics import Report, SpecError
from specc.ir.model import Model
from specc.resolve.model import resolve
from specc.resolve.values import Record
from specc.tools.importer.families import family_of
from specc.tools.importer.run import import_model
from tests.importer.configs import FAMILIES, published


def _model(family: str, config: dict) -> Model:
    program, definition = family_of(family)
    model = resolve(definition, program, Report(), Record(config)).model
    return model.model_copy(update={"weights": ()})


@pytest.mark.parametrize("family", FAMILIES)
def test_an_absent_field_has_the_published_default(family: str) -> None:
    import transformers

    config = published(family)
    whole, kind = _model(family, config), config["model_type"]
    wrong = []
    for name in sorted(config):
        if name in ("model_type", "architectures", "transformers_version", "id2label", "label2id"):
            continue
        without = {n: v for n, v in config.items() if n != name}
        # what the loader makes of the shorter config, written out again
        try:
            expected = transformers.AutoConfig.for_model(kind, **{n: v for n, v in without.items() if n != "model_type"}).to_dict()
        except Exception:  # the loader itself cannot do without the field
            continue
        try:
            ours = _model(family, without)
        except SpecError:
            continue  # refused, which guesses nothing
        try:
            theirs = whole if expected == config else _model(family, expected)
        except SpecError:
            continue
        if ours != theirs:
            wrong.append(name)
    assert not wrong, f"left out, these mean something else here than in transformers: {', '.join(wrong)}"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_whole_config_imports(family: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(published(family)))
    imported = import_model(tmp_path, "imported")
    assert imported.text.startswith("specc 1\n")
    assert "params ==" in imported.text
