"""The proof holds for what is right, and fails for each way of being wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from specc.diagnostics.finding import SpecError
from specc.faces.cli import main
from specc.faces.loading import one_model
from specc.ir.model import Model
from specc.resources import SPECS
from specc.tools.tolerance import TOLERANCE
from specc.tools.verify.candidates import fields, value_at
from specc.tools.verify.places import factors, places
from specc.tools.verify.run import Proof, verify_checkpoint, verify_miniature
from tests.harness import model_of

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

TWINS = {"kimi_k2", "gpt_oss_120b", "mixtral_8x22b"}  # of one another whose miniature has the same fields and kinds of layer
FILES = sorted((path for path in (SPECS / "models").glob("*.specc") if path.stem not in TWINS), key=lambda path: path.name)
LOCAL = """model local {
  vocab = 40  dim = 32  depth = 2  context = 64
  embed = tokens(scale: 2)  position = rope(theta: 100)  mask = sliding(4)  norm = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2, softcap: 5)
  ffn = gated(hidden: 48, activation: silu)  block = pre_norm  head = lm(tied: true)
}"""
SCALED = """block scaled(x) {
  final_norm = norm
  x = x + 0.22 * attention(norm.attention(x))
  x = x + 0.5 * ffn(norm.ffn(x))
}
""" + LOCAL.replace("pre_norm", "scaled")


@cache
def proof_of(path: Path) -> Proof:
    return verify_miniature(one_model(str(path)).model)


def wrong(proof: Proof) -> set[str]:
    """The comparisons and the fields that do not hold."""
    return {f"{r.check}: {r.got}" for r in proof.rows if not r.ok} | {f.name for f in proof.fields if not f.ok}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_published_models(path: Path):
    model = one_model(str(path)).model
    proof = proof_of(path)
    assert wrong(proof) == set()
    assert {row.check for row in proof.rows} >= ({"full pass", "padded batch"} if model.stack.padded else {"own size", "another size"})
    assert ("cached steps" in {row.check for row in proof.rows}) == model.stack.causal
    assert sum(field.verdict == "moves" for field in proof.fields) >= 8


def test_every_field_that_is_set_is_reported():
    path = SPECS / "models" / "gemma2_9b.specc"
    model, named = one_model(str(path)).model, [field.name for field in proof_of(path).fields]
    small = {
        ".".join([place.name, *path])
        for place in places(model)
        for path in fields(place.component)
        if path == ("kind",) or value_at(place.component, path) is not None
    }
    assert len(named) == len(set(named)) and set(named) == small
    assert {"local.attention.softcap", "global.attention.scale", "head.softcap", "final_norm.offset", "local.mask.window"} <= set(named)


def test_constants_of_the_wiring():
    model = model_of(SCALED)
    assert [value for _, value, _ in factors(model)] == [0.22, 0.5]
    proof = verify_miniature(model)
    assert wrong(proof) == set()
    assert {f.name for f in proof.fields if f.verdict == "moves"} >= {"scaled: 0.22 *", "scaled: 0.5 *"}


def test_what_only_short_texts_read_is_seen():
    factors = ", ".join(["1", "1.5", "2", "3"])
    longrope = f"rope(theta: 100, scaling: longrope(original: 8, short: [{factors}], long: [{factors}]))"
    proof = verify_miniature(model_of(LOCAL.replace("rope(theta: 100)", longrope)))
    assert wrong(proof) == set()
    assert {"position.scaling.short", "position.scaling.long"} <= {f.name for f in proof.fields if f.verdict == "moves"}


def test_a_field_that_means_nothing_here_is_said_to():
    proof = verify_miniature(model_of(LOCAL.replace("theta: 100", "theta: 100, partial: 2")))
    assert wrong(proof) == set()
    assert {f.name for f in proof.fields if f.change == "means nothing at this place"} == {"position.theta", "position.layout"}


# ---- a back end that computes something else


def attention_with(**changes: object) -> Callable[[Model], Model]:
    """A model whose attention has other values, whatever was asked for."""

    def change(model: Model) -> Model:
        layers = []
        for layer in model.stack.layers:
            parts = tuple(i.replaced(component=i.component.replaced(**changes)) if i.path == "attention" else i for i in layer.instances)
            layers.append(layer.replaced(instances=parts))
        return model.replaced(stacks=(model.stack.replaced(layers=tuple(layers)),))

    return change


def masked(kind: str) -> Callable[[Model], Model]:
    from specc.components.registry import load

    def change(model: Model) -> Model:
        layers = tuple(layer.replaced(mask=load("mask", kind)()) for layer in model.stack.layers)
        return model.replaced(stacks=(model.stack.replaced(layers=layers),))

    return change


def norms_with(**changes: object) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        norm = model.stack.final_norm and model.stack.final_norm.replaced(**changes)
        return model.replaced(stacks=(model.stack.replaced(final_norm=norm),))

    return change


def instead(monkeypatch: pytest.MonkeyPatch, back_end: str, change: Callable[[Model], Model]) -> None:
    """From now on the back end compiles another model than it is given."""
    if back_end == "torch":
        from specc.backends.torch import emit

        right = emit.emit
        monkeypatch.setattr(emit, "emit", lambda model: right(change(model)))
    else:
        from specc.backends.onnx import emit

        right = emit.graphs
        monkeypatch.setattr(emit, "graphs", lambda model, *rest: right(change(model), *rest))


BROKEN = {
    "another eps": norms_with(eps=1e-2),
    "another scale": attention_with(scale=0.5),
    "no soft cap": attention_with(softcap=None),
    "no window": masked("causal"),
}


@pytest.mark.parametrize("back_end", ["torch", "onnx"])
@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_back_end_is_seen(monkeypatch: pytest.MonkeyPatch, back_end: str, change: Callable[[Model], Model]):
    instead(monkeypatch, back_end, change)
    proof = verify_miniature(model_of(LOCAL))
    assert not proof.ok
    assert {"full pass: ONNX Runtime", "padded batch: ONNX Runtime"} <= wrong(proof)
    assert proof.parted == ("the final norm or the head" if change is BROKEN["another eps"] else "layer 0 (layer), or the embedding")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (attention_with(softcap=None), "attention.softcap"),
        (attention_with(scale=0.3), "attention.scale"),
        (masked("causal"), "mask.window"),
        (norms_with(eps=1e-5), "final_norm.eps"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_that_both_ignore_is_named(monkeypatch: pytest.MonkeyPatch, change: Callable[[Model], Model], field: str):
    instead(monkeypatch, "torch", change)
    instead(monkeypatch, "onnx", change)
    proof = verify_miniature(model_of(LOCAL))
    assert all(row.ok for row in proof.rows)
    assert field in wrong(proof)


def test_a_default_that_only_one_ignores_is_seen(monkeypatch: pytest.MonkeyPatch):
    """1e-5 and 1e-12 give the same numbers here; the changed field tells them apart."""
    instead(monkeypatch, "onnx", norms_with(eps=1e-12))
    proof = verify_miniature(model_of(LOCAL))
    assert all(row.ok for row in proof.rows)
    assert {f.name: f.verdict for f in proof.fields if not f.ok} == {"final_norm.eps": "differs"}


def test_a_mask_that_forgets_the_past_is_seen(monkeypatch: pytest.MonkeyPatch):
    from specc.backends.onnx.frame import Frame

    wrong_columns = property(lambda self: self._once("query", lambda: self.g.op("Range", self.g.integer(0), self.new, self.g.integer(1))))
    monkeypatch.setattr(Frame, "query", wrong_columns)
    proof = verify_miniature(model_of(LOCAL))
    assert wrong(proof) == {"cached steps: ONNX Runtime"}


def test_padding_that_is_read_is_seen(monkeypatch: pytest.MonkeyPatch):
    from specc.tools.verify.by_torch import ByTorch

    right = ByTorch._call
    monkeypatch.setattr(ByTorch, "_call", lambda self, inputs, **more: right(self, replace(inputs, mask=inputs.mask * 0 + 1), **more))
    assert {"padded batch: ONNX Runtime", "padded batch: PyTorch"} <= wrong(verify_miniature(model_of(LOCAL)))


def test_a_field_that_breaks_a_back_end_is_named(monkeypatch: pytest.MonkeyPatch):
    from specc.components.position.rope import Rope

    monkeypatch.setattr(
        Rope, "tables", lambda self, g, frame, width: {50.0: None}[self.theta] if self.theta != 100 else tables(self, g, frame, width)
    )
    proof = verify_miniature(model_of(LOCAL))
    assert {f.name: f.verdict for f in proof.fields if not f.ok}["position.theta"] == "fails"


tables = None


@pytest.fixture(autouse=True)
def _right_tables():
    global tables
    from specc.components.position.rope import Rope

    tables = Rope.tables


# ---- with a checkpoint, and against the library

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 32_000,
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 11_008,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "rope_theta": 10_000.0,
    "tie_word_embeddings": False,
    "bos_token_id": 128_000,
}
BERT = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": 30_522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "pad_token_id": 0,
}
GPT2 = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "vocab_size": 50_257,
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "n_positions": 1024,
    "layer_norm_epsilon": 1e-5,
    "activation_function": "gelu_new",
    "scale_attn_by_inverse_layer_idx": True,
}
GEMMA2 = {
    "model_type": "gemma2",
    "architectures": ["Gemma2ForCausalLM"],
    "vocab_size": 256_000,
    "hidden_size": 3584,
    "num_hidden_layers": 42,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "query_pre_attn_scalar": 224,
    "intermediate_size": 14_336,
    "max_position_embeddings": 8192,
    "sliding_window": 4096,
    "rms_norm_eps": 1e-6,
    "hidden_activation": "gelu_pytorch_tanh",
    "attn_logit_softcapping": 50.0,
    "final_logit_softcapping": 30.0,
    "rope_theta": 10_000.0,
}


CHOICES = BERT | {"architectures": ["BertForMultipleChoice"]}


@pytest.mark.parametrize("config", [LLAMA, BERT, CHOICES, GPT2, GEMMA2], ids=lambda config: config["architectures"][0])
def test_against_the_published_class(tmp_path: Path, config: dict):
    pytest.importorskip("transformers")
    from specc.tools.verify.published import verify_published

    (tmp_path / "config.json").write_text(json.dumps(config))
    proof = verify_published(tmp_path)
    assert wrong(proof) == set()
    assert [(r.check, r.got) for r in proof.rows if r.want == "transformers"] == [
        (check, back_end) for check in ("full pass", "padded batch") for back_end in ("PyTorch", "ONNX Runtime")
    ]


def test_a_spec_that_is_not_the_config_is_refused(tmp_path: Path):
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text(json.dumps(BERT))
    spec = str(SPECS / "models" / "bert_large.specc")
    assert main(["verify", spec, "--against", "transformers", "--config", str(tmp_path)]) == 2


def test_a_checkpoint_in_specc_s_own_layout(tmp_path: Path):
    from specc.weights.init import init

    model = model_of(LOCAL)
    init(model, tmp_path, seed=3)
    proof = verify_checkpoint(model, tmp_path)
    assert proof.ok and len(proof.rows) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["weights.safetensors"]


def test_a_published_class_is_never_guessed(tmp_path: Path):
    pytest.importorskip("transformers")
    from specc.tools.verify.by_transformers import published_class

    for config in (
        {},
        {"architectures": None},
        {"architectures": ["os.system"]},
        {"architectures": ["AutoConfig"]},
        {"architectures": ["A", "B"]},
    ):
        (tmp_path / "config.json").write_text(json.dumps(config))
        with pytest.raises(SpecError):
            published_class(tmp_path)


# ---- the command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    spec = tmp_path / "local.specc"
    spec.write_text(LOCAL)
    assert main(["verify", str(spec), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["ok"] and found["model"] == "local"
    assert all(row["error"] <= row["tolerance"] == TOLERANCE["float32"] for row in found["rows"])
    instead(monkeypatch, "onnx", attention_with(scale=0.5))
    assert main(["verify", str(spec)]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_against_needs_to_know_the_published_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    spec = tmp_path / "local.specc"
    spec.write_text(LOCAL)
    assert main(["verify", str(spec), "--against", "transformers"]) == 2
    assert "SYS007" in capsys.readouterr().err
