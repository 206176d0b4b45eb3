"""The typed model as data: JSON there and back, closed, frozen, the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from specc.components.registry import AXES, load, members
from specc.faces.cli import main
from specc.faces.loading import one_model
from specc.ir.model import Model
from specc.ir.schema import json_schema
from specc.resources import SPECS

SPEC_FILES = sorted((SPECS / "models").glob("*.specc"))
SMALL = """\
model m {
  vocab = 64  dim = 16  depth = 2  context = 32
  embed = norm.embed(2 * tokens() + learned_position() + segments(2))
  position = rope(theta: 10_000)
  norm = layer(eps: 1e-5)
  norm.ffn = rms(eps: 1e-6, offset: 1)
  attention = attention(heads: 2, qk_norm: rms(eps: 1e-5))
  ffn = mlp(hidden: 4 * dim * (layer.index + 1), activation: gelu)
  block = parallel_norms
  head = mlm(tied: true, activation: gelu, norm: norm)
  layer near { mask = bidirectional }
  layer far { mask = bidirectional  position = none }
  layers = [near, far]
  weights hf { root = "a." | ""  ignore = ["x"]  embed.tokens = "wte" | "lm_head"  layers[i].ffn.up = transpose("h.{i}.up") }
}
"""


@pytest.fixture
def small(tmp_path: Path) -> Model:
    (tmp_path / "small.specc").write_text(SMALL)
    return one_model(str(tmp_path / "small.specc")).model


@pytest.mark.parametrize("path", SPEC_FILES, ids=lambda path: path.stem)
def test_json_there_and_back(path: Path) -> None:
    model = one_model(str(path)).model
    assert Model.model_validate_json(model.model_dump_json()) == model


def test_json_there_and_back_of_every_kind_of_node(small: Model) -> None:
    text = small.model_dump_json()
    again = Model.model_validate_json(text)
    assert again == small
    assert again.model_dump_json() == text
    assert [type(i.component) for layer in again.stack.layers for i in layer.instances] == [
        type(i.component) for layer in small.stack.layers for i in layer.instances
    ]


def test_equal_layers_are_one_object_and_others_are_not(small: Model) -> None:
    llama = one_model(str(SPECS / "models" / "llama3_8b.specc")).model
    assert len({id(layer) for layer in llama.stack.layers}) == 1
    assert [layer.instance("ffn").component.hidden for layer in small.stack.layers] == [64, 128]
    assert small.stack.layers[0].instance("norm.ffn") is small.stack.layers[1].instance("norm.ffn")


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Every object in JSON, by its path."""
    found = [path] if isinstance(value, dict) else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [p for key, v in inner for p in places(v, (*path, key))]


def test_unknown_fields_are_refused_everywhere(small: Model) -> None:
    text = small.model_dump_json()
    for path in places(json.loads(text)):
        changed = json.loads(text)
        at = changed
        for key in path:
            at = at[key]
        at["surprise"] = 1
        with pytest.raises(ValidationError, match="surprise"):
            Model.model_validate_json(json.dumps(changed))


@pytest.mark.parametrize("value", ["16", 16.5, True, None, [16]])
def test_values_are_never_converted(small: Model, value: object) -> None:
    changed = json.loads(small.model_dump_json())
    changed["stacks"][0]["dims"]["dim"] = value
    with pytest.raises(ValidationError):
        Model.model_validate_json(json.dumps(changed))


def test_nodes_cannot_be_changed(small: Model) -> None:
    for node, name in ((small, "name"), (small.stack, "dims"), (small.stack.layers[0].instances[0].component, "kind")):
        with pytest.raises(ValidationError):
            setattr(node, name, getattr(node, name))


# ---- the schema


@pytest.fixture(scope="module")
def schema() -> dict:
    return json_schema()


def test_the_command_prints_the_schema(schema: dict, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema


def test_the_schema_is_closed_and_its_references_lead_somewhere(schema: dict) -> None:
    objects = references = 0
    for path in places(schema):
        at = schema
        for key in path:
            at = at[key]
        if at.get("type") == "object" and "properties" in at:
            objects += 1
            assert at["additionalProperties"] is False, path
            assert set(at.get("required", ())) <= at["properties"].keys(), path
        if "$ref" in at and isinstance(at["$ref"], str):
            references += 1
            assert at["$ref"].removeprefix("#/$defs/") in schema["$defs"], path
    assert objects > 40
    assert references > 40
    assert "slot" not in json.dumps(schema)


def test_the_schema_has_every_component(schema: dict) -> None:
    for axis in AXES:
        assert schema["$defs"][axis] == {"anyOf": [{"$ref": f"#/$defs/{axis}.{kind}"} for kind in sorted(members(axis))]}
        for kind in members(axis):
            assert set(schema["$defs"][f"{axis}.{kind}"]["properties"]) == set(load(axis, kind).model_fields)


def test_no_two_callable_components_have_one_name() -> None:
    """An instance in JSON is told by its kind alone."""
    names = [kind for axis in AXES for kind in members(axis) if axis in ("norm", "attention", "ffn", "embed", "head")]
    assert len(set(names)) == len(names)


def test_models_fit_the_schema(schema: dict, small: Model) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for model in (small, *(one_model(str(path)).model for path in SPEC_FILES[:3])):
        data = json.loads(model.model_dump_json())
        validator.validate(data)
        data["stacks"][0]["surprise"] = 1
        assert not validator.is_valid(data)


# ---- the same in every process


def output(tmp_path: Path, seed: str, *arguments: str) -> bytes:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-m", "specc", *arguments], capture_output=True, env=environment, cwd=tmp_path, check=True)
    return done.stdout


def test_every_process_prints_the_same_ir(tmp_path: Path) -> None:
    (tmp_path / "small.specc").write_text(SMALL)
    assert output(tmp_path, "1", "ir", "small.specc") == output(tmp_path, "2", "ir", "small.specc")


def test_every_process_builds_the_same_graph_and_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "small.specc").write_text(SMALL)
    for to, file in (("onnx", "model.onnx"), ("torch", "m.py")):
        for seed in ("1", "2"):
            output(tmp_path, seed, "build", "small.specc", "--to", to, "-o", f"{to}{seed}")
        first, second = ((tmp_path / f"{to}{seed}" / file).read_bytes() for seed in ("1", "2"))
        assert first == second


def test_a_copy_works_everything_out_again(small: Model) -> None:
    """A cached count of the layers must not outlive them."""
    stack = small.stack
    assert len(stack.stored) == len(stack.distinct) == 2
    cut = stack.model_copy(update={"layers": stack.layers[:1]})
    assert len(cut.stored) == len(cut.distinct) == 1
