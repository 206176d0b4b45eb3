"""Every spec in specs/models: it says what its family makes of the published config, and both back ends build it.

`configs/` holds the published configs, as far as they bear on the architecture, under the names of the specs.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from specc.backends.onnx.emit import graphs
from specc.backends.torch.emit import emit
from specc.diagnostics.finding import Report
from specc.faces.loading import one_model
from specc.ir.fingerprint import fingerprint
from specc.ir.model import Model
from specc.ir.weights import spellings
from specc.resolve.model import Resolved, resolve
from specc.resolve.values import Record
from specc.resources import SPECS
from specc.syntax import tree
from specc.tools.importer.config import model_type, read_config
from specc.tools.importer.families import family_of
from specc.weights.mapping import Stored
from specc.weights.own import own_layout
from specc.weights.rules import Candidate, candidates

CONFIGS = {path.stem: path for path in sorted((Path(__file__).parent / "configs").glob("*.json"))}
MODELS = sorted(path.stem for path in (SPECS / "models").glob("*.specc"))
WITHOUT_FAMILY = {"stablelm_3b"}
WITHOUT_CHECKPOINT = {"transformer_base"}


@cache
def spec(name: str) -> Resolved:
    return one_model(str(SPECS / "models" / f"{name}.specc"))


@cache
def by_family(name: str) -> Model:
    """What the family makes of the published config."""
    file, values = read_config(CONFIGS[name])
    program, family = family_of(model_type(values, file))
    return resolve(family, program, Report(), Record(values)).model


def of_each_kind(model: Model, like: Model) -> Model:
    """The model with one layer of each kind that `like` has: the map says the same for every other."""
    stacks = []
    for stack, other in zip(model.stacks, like.stacks, strict=True):
        first = {id(layer): n for n, layer in reversed(list(enumerate(other.layers)))}
        stacks.append(stack.model_copy(update={"layers": tuple(stack.layers[n] for n in sorted(first.values())), "sets": ()}))
    return Model(name=model.name, doc=model.doc, stacks=tuple(stacks), heads=model.heads, weights=model.weights)


def placed(model: Model) -> dict[str, list[Candidate]]:
    """Where each parameter may lie, the root left out."""
    (weight_map,) = model.weights
    return candidates(weight_map, model.parameters())


def same_places(mine: list[Candidate], theirs: list[Candidate]) -> bool:
    """A spec may know more names than its family, but not another first one."""
    return len(mine) == len(theirs) and all(
        a.names[0] == b.names[0] and {*a.names} >= {*b.names} and replace(a, names=()) == replace(b, names=())
        for a, b in zip(mine, theirs, strict=True)
    )


def test_every_spec_has_its_config() -> None:
    assert set(MODELS) - WITHOUT_FAMILY - WITHOUT_CHECKPOINT == set(CONFIGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_spec_is_what_its_family_makes_of_the_config(name: str) -> None:
    mine, theirs = spec(name).model, by_family(name)
    assert [stack.dims for stack in mine.stacks] == [stack.dims for stack in theirs.stacks]
    assert fingerprint(mine) == fingerprint(theirs)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_spec_finds_every_parameter_where_its_family_does(name: str) -> None:
    mine, theirs = (of_each_kind(model, spec(name).model) for model in (spec(name).model, by_family(name)))
    want = placed(theirs)
    parted = {key: (ways, want[key]) for key, ways in placed(mine).items() if not same_places(ways, want[key])}
    assert not parted and want.keys() == mine.parameters().keys()
    (own,), (family,) = mine.weights, theirs.weights
    assert set(own.root) >= set(family.root)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_CHECKPOINT])
def test_every_parameter_has_a_place_of_its_own(name: str) -> None:
    model = of_each_kind(spec(name).model, spec(name).model)
    (weight_map,) = model.weights
    found = candidates(weight_map, model.parameters())
    assert all(found.values()), [key for key, ways in found.items() if not ways]
    taken: dict[tuple, str] = {}
    for key, (way, *_) in found.items():
        place = (spellings(way.names[0], weight_map.root[0])[0], way.part, way.stack)
        assert place not in taken, f"{key} and {taken[place]} both lie in {place}"
        taken[place] = key


@pytest.mark.parametrize("name", MODELS)
def test_a_spec_states_its_exact_count(name: str) -> None:
    resolved = spec(name)
    stated = [c.value for c in resolved.body.checks if isinstance(c.fact, tree.Name) and c.fact.id == "params" and c.operator == "=="]
    count = sum(p.size for p in resolved.model.parameters().values() if p.role != "fixed")
    assert [value.value for value in stated] == [count]
    assert resolved.model.doc and resolved.model.name == name


@pytest.mark.parametrize("name", MODELS)
def test_a_spec_builds(name: str) -> None:
    model = spec(name).model
    module = ast.parse(emit(model))
    assert model.doc.split()[:8] == ast.get_docstring(module).split()[:8]
    assert ast.unparse(module.body[-1]).startswith("Model = ")
    small = of_each_kind(model, model)  # what every layer adds to a graph, its kind tells
    _, tensors = own_layout(small)
    made = [file.graph for file in graphs(small, {key: Stored(info) for key, info in tensors.items()}).values()]
    assert [i.name for i in made[0].input][:2] == (["input_ids", "attention_mask"] if model.stack.padded else ["pixel_values"])
    nodes = [node for graph in made for node in graph.node]
    branches = [inner for node in nodes for attribute in node.attribute for inner in attribute.g.node]
    used = {value for node in (*nodes, *branches) for value in node.input}
    assert {key for key, p in small.parameters().items() if p.role == "learned"} <= used


def test_the_whole_graph_of_a_deep_model() -> None:
    """Not only a layer of each kind: every layer, in order."""
    model = spec("llama3_70b").model
    _, tensors = own_layout(model)
    graph = graphs(model, {key: Stored(info) for key, info in tensors.items()})["model.onnx"].graph
    assert len(graph.output) == 1 + 2 * 80
    assert {tensor.name for tensor in graph.initializer} >= set(model.parameters())
