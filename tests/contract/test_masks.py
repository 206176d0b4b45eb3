"""What a mask says of itself is what its formula shows; and with padding, packed rows and a cache both back ends follow it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from specc.components.registry import members
from specc.diagnostics import SpecError
from specc.ir.model import Model
from specc.tools.tolerance import TOLERANCE
from specc.tools.verify.by_onnx import ByOnnx
from specc.tools.verify.by_torch import ByTorch
from specc.tools.verify.compare import Row, compared
from specc.tools.verify.inputs import Inputs
from specc.tools.verify.numbers import drawn, save
from tests.components.probe import picture, spec
from tests.harness import draw, inputs_of, model_of, run_onnx, run_torch
from tests.oracle import frame as oracle
from tests.oracle.formulas import formula
from tests.tolerance import distance

MASKS = (
    "bidirectional",
    "causal",
    "sliding(1)",
    "sliding(4)",
    "sliding(3, keep_first: 2)",
    "window(2, 3)",
    "window(0, 4)",
    "window(3, 0)",
    "window(30, 30)",
    "chunked(5)",
    "chunked(1)",
    "chunked(24)",
    "prefix",
    "documents(causal)",
    "documents(bidirectional)",
    "documents(sliding(4))",
    "documents(window(1, 2))",
    "documents(prefix)",
    "with_global(window(1, 2))",
    "with_global(causal)",
    "with_global(documents(sliding(3)))",
)
RUNS = {"pytorch": run_torch, "onnx": run_onnx}


def test_every_kind_is_here():
    assert {text.partition("(")[0] for text in MASKS} == set(members("mask"))


def _plain_row(tokens: int, last_is_global: int = 0) -> oracle.Row:
    """A row without padding, prefix or second document."""
    marks = np.array([0] * (tokens - 1) + [last_is_global])
    return oracle.Row(0, {"prefix_length": np.int64(0), "document_ids": np.zeros(tokens, np.int64), "global_attention_mask": marks})


def _seen_in(mask, row: oracle.Row, tokens: int) -> np.ndarray:
    return np.array([[formula(mask).visible(mask, q, k, row) for k in range(tokens)] for q in range(tokens)])


@pytest.mark.parametrize("text", MASKS)
@pytest.mark.parametrize("tokens", [1, 2, 7, 24])
def test_reach_and_pairs_are_counted(text: str, tokens: int):
    mask = model_of(spec(mask=text)).stack.layers[0].mask
    seen = _seen_in(mask, _plain_row(tokens), tokens)
    assert mask.pairs(tokens) == seen.sum()
    assert seen.sum(1).max() <= (mask.reach or tokens)
    assert mask.reach is None or tokens < mask.reach or seen.sum(1).max() >= mask.reach - getattr(mask, "keep_first", 0)
    ahead = np.triu(_seen_in(mask, _plain_row(tokens, last_is_global=1), tokens), 1)
    assert mask.causal == (not ahead.any()) or tokens == 1


def test_rows_of_visible_keys():
    """Llama 4's blocks, ModernBERT's window, a prefix behind left padding: which columns each query sees, written out."""
    assert _seen("chunked(3)", 7) == ["0", "01", "012", "3", "34", "345", "6"]
    assert _seen("chunked(3)", 7, start=2) == ["", "", "2", "23", "234", "5", "56"]
    assert _seen("window(2, 1)", 5) == ["01", "012", "0123", "1234", "234"]
    assert _seen("sliding(3)", 5) == ["0", "01", "012", "123", "234"]
    assert _seen("sliding(2, keep_first: 1)", 6, start=1) == ["", "1", "12", "123", "134", "145"]
    assert _seen("prefix", 7, start=2, prefix=3) == ["234", "234", "234", "234", "234", "2345", "23456"]


def _seen(text: str, tokens: int, start: int = 0, prefix: int = 0) -> list[str]:
    """For each query the visible columns, padding hidden, as the graph's own mask has them."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    from specc.backends.onnx.builder import Builder
    from specc.backends.onnx.frame import Frame
    from specc.backends.onnx.initializers import Initializers

    mask = model_of(spec(mask=text)).stack.layers[0].mask
    g = Builder(Initializers({}))
    frame = Frame(g, mask.causal)
    made = frame.mask(mask, model_of(spec(position="none")).stack.layers[0].position, 1)
    names = {**frame.inputs}
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, (_, shape) in names.items()]
    graph = helper.make_graph(
        g.nodes, "mask", inputs, [helper.make_tensor_value_info(made, TensorProto.BOOL, None)], list(g.weights.made.values())
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    session = onnxruntime.InferenceSession(onnx.ModelProto.SerializeToString(model), providers=["CPUExecutionProvider"])
    real = np.array([[0] * start + [1] * (tokens - start)], np.int64)
    known = {"input_ids": np.zeros((1, tokens), np.int64), "attention_mask": real, "prefix_length": np.array([prefix])}
    (found,) = session.run(None, {name: known[name] for name in names})
    return ["".join(str(k) for k in range(tokens) if row[k]) for row in found[0, 0]]


# ---- both back ends


def _model(text: str, **fields: object) -> Model:
    return model_of(spec(mask=text, context=24, head="lm(tied: true)", depth=2, **fields))


@pytest.mark.parametrize("position", ["rope(theta: 100)", "alibi"])
@pytest.mark.parametrize("text", MASKS)
def test_padding_and_cached_steps(text: str, position: str, tmp_path: Path):
    """Every piece of a cached text sees what the full pass sees; a padded row is what it is alone."""
    model = _model(text, position=position)
    numbers = drawn(model)
    save(model, numbers, tmp_path)
    rows = list(compared(model, 24, ByTorch(model, numbers, tmp_path), ByOnnx(model, tmp_path)))
    assert [row for row in rows if not row.ok] == []
    assert ("cached steps" in {row.check for row in rows}) == model.stack.causal
    assert isinstance(rows[0], Row)


@pytest.mark.parametrize("backend", RUNS)
@pytest.mark.parametrize("text", MASKS)
def test_a_row_of_padding_gives_numbers(text: str, backend: str):
    """A query that sees nothing gives zero, never NaN; and the row beside it stays as it was."""
    model = model_of(spec(mask=text))
    inputs = inputs_of(model)
    inputs["attention_mask"][1] = 0
    got = RUNS[backend](model, draw(model), inputs)["last_hidden_state"]
    whole = RUNS[backend](model, draw(model), inputs_of(model))["last_hidden_state"]
    assert np.isfinite(got).all()
    assert distance(got[0], whole[0]) <= TOLERANCE["float32"]


# ---- packed rows


def _packed(model: Model) -> dict[str, np.ndarray]:
    ids = np.random.default_rng(5).integers(0, 24, (1, 12))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "document_ids": np.array([[4] * 5 + [9] * 7])}


@pytest.mark.parametrize("backend", RUNS)
@pytest.mark.parametrize("inner", ["causal", "bidirectional", "sliding(3)"])
def test_nothing_leaks_from_one_document_into_the_next(backend: str, inner: str):
    model = model_of(spec(mask=f"documents({inner})"))
    weights, inputs = draw(model), _packed(model)
    one = RUNS[backend](model, weights, inputs)["last_hidden_state"]
    inputs["input_ids"][0, :5] = (inputs["input_ids"][0, :5] + 1) % 24
    other = RUNS[backend](model, weights, inputs)["last_hidden_state"]
    assert not np.array_equal(one[:, :5], other[:, :5])
    assert np.array_equal(one[:, 5:], other[:, 5:])


@pytest.mark.parametrize("backend", RUNS)
@pytest.mark.parametrize("position", ["rope(theta: 100)", "alibi", "none"])
@pytest.mark.parametrize("inner", ["causal", "bidirectional", "window(2, 1)", "sliding(3)"])
def test_a_packed_document_is_what_it_is_alone(backend: str, position: str, inner: str):
    """Positions run on, and what only knows distances does not see that."""
    model = model_of(spec(mask=f"documents({inner})", position=position))
    weights, inputs = draw(model), _packed(model)
    together = RUNS[backend](model, weights, inputs)["last_hidden_state"]
    alone = RUNS[backend](model, weights, {name: values[:, 5:] for name, values in inputs.items()})["last_hidden_state"]
    assert distance(together[:, 5:], alone) <= TOLERANCE["float32"]


def test_positions_that_begin_again_with_each_document(tmp_path: Path):
    """For a table of positions the caller counts anew; without that, positions run on."""
    model = _model("documents(causal)", position="none", embed="tokens() + learned_position()")
    numbers = drawn(model)
    save(model, numbers, tmp_path)
    torch, onnx = ByTorch(model, numbers, tmp_path), ByOnnx(model, tmp_path)
    inputs = _packed(model)
    mask = inputs.pop("attention_mask")
    shapes = {"document_ids": ("B", "S")}
    alone = torch.run(Inputs({name: values[:, 5:] for name, values in inputs.items()}, mask[:, 5:], shapes))["logits"]
    anew = inputs | {"position_ids": np.array([[*range(5), *range(7)]])}
    torch.takes = {**torch.takes, "position_ids": None}
    for got in (torch.run(Inputs(anew, mask, shapes))["logits"], onnx._call(anew, mask, {})[0]["logits"]):
        assert distance(got[:, 5:], alone) <= TOLERANCE["float32"]
    assert distance(torch.run(Inputs(inputs, mask, shapes))["logits"][:, 5:], alone) > 1e-2


def test_a_prefix_in_two_calls_is_an_error_when_it_runs(tmp_path: Path) -> None:
    """An earlier call's tokens have been computed without the rest of it; nothing can make up for that."""
    model = _model("prefix")
    numbers = drawn(model)
    save(model, numbers, tmp_path)
    mask = np.array([[1] * 6, [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1]])  # the last row begins with the second call
    given = {"input_ids": np.arange(18).reshape(3, 6), "prefix_length": np.array([4, 2, 1])}
    inputs = Inputs(given, mask, {"prefix_length": ("B",)})
    for by in (ByTorch(model, numbers, tmp_path), ByOnnx(model, tmp_path)):
        assert distance(by.steps(inputs, [4, 2])["logits"][mask == 1], by.run(inputs)["logits"][mask == 1]) <= TOLERANCE["float32"]
        with pytest.raises(Exception, match="whole prefix belongs into the first call"):
            by.steps(inputs, [3, 3])


# ---- global tokens


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("TYP005", {"mask": "with_global(bidirectional)"}),
        ("CAP007", {"mask": "causal", "attention": "global_local(heads: 4)"}),
        ("IMG003", {"mask": "with_global(window(1, 1))"}),
        ("IMG003", {"attention": "global_local(heads: 4)"}),
    ],
)
def test_where_global_tokens_cannot_stand(code: str, fields: dict[str, object]):
    with pytest.raises(SpecError) as caught:
        model_of((picture if code == "IMG003" else spec)(**fields))
    assert [found.code for found in caught.value.diagnostics] == [code]
