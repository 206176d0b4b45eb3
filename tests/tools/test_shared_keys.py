"""Layers that read the keys and values of an earlier one: what they hold and keep, in both back ends, and what is refused."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch

from specc.backends.onnx.emit import graphs
from specc.backends.torch.emit import emit
from specc.diagnostics.finding import SpecError
from specc.ir.fingerprint import fingerprint
from specc.tools.analyse import Costs
from specc.tools.shrink import miniature
from specc.tools.verify.run import verify_miniature
from specc.weights.mapping import Stored
from specc.weights.own import own_layout
from tests.components.probe import spec
from tests.harness import draw, model_of

READER = "layer own {} layer reader { kv_from = own }"


def shared(layers: str = "[own, 2 * reader, own, reader]", depth: int = 5, sections: str = READER, **fields: object) -> str:
    return spec(f"{sections} layers = {layers}", depth=depth, **fields)


def test_the_nearest_earlier_layer_is_the_source():
    assert model_of(shared()).stack.sources == {1: 0, 2: 0, 4: 3}


def test_it_holds_no_keys_and_keeps_nothing():
    model, whole = model_of(shared()), model_of(spec(depth=5))
    gone = {f"layers.{n}.attention.{name}.weight" for n in (1, 2, 4) for name in "kv"}
    assert whole.parameters().keys() - model.parameters().keys() == gone
    assert Costs(whole).parameters - Costs(model).parameters == 3 * 2 * 16 * 2 * 6
    assert Costs(whole).kv_cache(10) * 2 == Costs(model).kv_cache(10) * 5
    assert Costs(whole).forward(8) - Costs(model).forward(8) == 3 * 8 * 4 * 16 * 12


def test_the_graph_has_a_cache_for_each_source():
    model = model_of(shared())
    graph = graphs(model, {key: Stored(tensor) for key, tensor in own_layout(model)[1].items()})["model.onnx"].graph
    kept = {f"{layer}.{name}" for layer in (0, 3) for name in ("key", "value")}
    assert {i.name.removeprefix("past_key_values.") for i in graph.input if "past" in i.name} == kept
    assert {o.name.removeprefix("present.") for o in graph.output if "present" in o.name} == kept


def test_cached_steps_equal_the_full_pass():
    model = model_of(shared())
    module = sys.modules["shared_keys"] = ModuleType("shared_keys")
    exec(compile(emit(model), "shared_keys.py", "exec"), module.__dict__)
    made = module.Model().eval()
    made.load_state_dict({key: torch.tensor(value) for key, value in draw(model).items()})
    ids, mask = torch.randint(0, 24, (2, 9)), torch.tensor([[0, 0, 0] + [1] * 6, [1] * 9])
    with torch.no_grad():
        whole, cache, at = made(ids, mask).last_hidden_state, None, 0
        for size in (5, 1, 3):
            out = made(ids[:, at : at + size], mask[:, : at + size], cache=cache)
            cache, real = out.cache, mask[:, at : at + size].bool()
            torch.testing.assert_close(out.last_hidden_state[real], whole[:, at : at + size][real], rtol=2e-5, atol=2e-5)
            at += size
    assert len(cache) == 2 and cache[0][0].shape == (2, 2, 9, 6)


def test_proof_of_a_model_with_one_cache_for_half_of_its_layers():
    sections = "layer local { mask = sliding(4) } layer source {} layer reader { kv_from = source }"
    proof = verify_miniature(model_of(shared("[2 * local, source, 3 * reader]", 6, sections, head="lm(tied: true)")))
    assert [f"{r.check}: {r.got}" for r in proof.rows if not r.ok] == []
    assert [f.name for f in proof.fields if not f.ok] == []
    assert {row.check for row in proof.rows} >= {"full pass", "padded batch", "cached steps"}
    moved = {field.name for field in proof.fields if field.verdict == "moves"}
    assert {"source.position.theta", "reader.attention.scale", "source.attention.scale"} <= moved


def test_the_miniature_keeps_whose_keys_are_read():
    sections = "layer local { mask = sliding(900) } layer source {} layer reader { kv_from = source }"
    sizes = {"dim": 2048, "vocab": 32_000, "attention": "attention(heads: 16, kv_heads: 4, head_dim: 128)"}
    small = miniature(model_of(shared("[9 * local, source, 10 * reader]", 20, sections, **sizes))).stack
    assert [layer.label for layer in small.layers] == ["local", "source", "reader"]
    assert small.sources == {2: 1}


def test_a_label_is_no_part_of_the_fingerprint_and_the_source_is():
    renamed = shared(sections="layer first {} layer second { kv_from = first }", layers="[first, 2 * second, first, second]")
    assert fingerprint(model_of(renamed)) == fingerprint(model_of(shared()))
    nearest = shared("[own, other, reader]", 3, f"{READER} layer other {{}}")
    farther = shared("[other, own, reader]", 3, f"{READER} layer other {{}}")
    assert fingerprint(model_of(nearest)) != fingerprint(model_of(farther))


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (shared("[reader, 4 * own]"), "SHP012", "no layer `own` stands before layer 0"),
        (shared("[own, 4 * reader]", sections="layer own {} layer reader { kv_from = reader }"), "SHP012", "no layer `reader`"),
        (shared(sections="layer own {} layer reader { kv_from = ovn }"), "TYP011", "`ovn`"),
        (shared(sections="layer own {} layer reader { kv_from = 1 }"), "TYP011", "the number 1"),
        (shared(sections="layer own {} layer reader { kv_from = own  attention = attention(heads: 4, kv_heads: 4, head_dim: 6) }"), "SHP012", "`kv_heads` is 4"),
        (shared(sections="layer own {} layer reader { kv_from = own  attention = attention(heads: 4, kv_heads: 2, head_dim: 8) }"), "SHP012", "`head_dim` is 8"),
        (shared(sections="layer own {} layer reader { kv_from = own  position = none }"), "SHP012", "position scheme"),
        (shared(sections="layer own { mask = sliding(3) } layer reader { kv_from = own }"), "SHP012", "reaches further back"),
        (shared("[own, reader, 3 * last]", sections=f"{READER} layer last {{ kv_from = reader }}"), "SHP012", "no keys and values of its own"),
        (shared(mask="bidirectional"), "CAP001", "see later tokens"),
        (shared("[own, reader, 3 * same(reader)]"), "CAP001", "share weights"),
        (shared(attention="attention(heads: 4, kv_heads: 2, head_dim: 6, sinks: true)"), "CAP001", "sinks"),
        (shared(attention="differential(heads: 4, kv_heads: 2, head_dim: 6, lambda_init: 0.5, head_norm: rms(eps: 1e-5))"), "CAP001", "`differential`"),
    ],
)
def test_what_is_refused(text: str, code: str, said: str):
    with pytest.raises(SpecError) as caught:
        model_of(text)
    assert code in {d.code for d in caught.value.diagnostics}
    assert said in " ".join(d.message for d in caught.value.diagnostics)
