"""Encoder-decoders against transformers: padded sources, cached steps, a decoder padded to the left; the encoder's part is made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specc.faces.cli import main
from tests.reference.published import call, load_module, session, write
from tests.tolerance import TOLERANCE, distance

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

BART = {"d_model": 64, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 2, "encoder_ffn_dim": 96, "decoder_ffn_dim": 80, "vocab_size": 199, "max_position_embeddings": 64}
T5 = {"d_model": 64, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4, "d_kv": 24, "d_ff": 96, "vocab_size": 199, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 10, "layer_norm_epsilon": 0.01}
SPARSE = {"num_layers": 4, "num_sparse_encoder_layers": 2, "num_sparse_decoder_layers": 2, "num_experts": 4, "pad_token_id": 0}
GEMMA = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 24, "vocab_size": 199, "sliding_window": 4, "attn_logit_softcapping": 0.5, "query_pre_attn_scalar": 20}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "bart": ("bart", BART),
    "bart scaled": ("bart", BART | {"scale_embedding": True, "activation_function": "relu"}),
    "mbart": ("mbart", BART | {"scale_embedding": True}),
    "pegasus": ("pegasus", BART | {"scale_embedding": True, "pad_token_id": 1}),
    "marian": ("marian", BART | {"scale_embedding": True, "activation_function": "swish", "pad_token_id": 1}),
    "marian, tables apart": ("marian", BART | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 211, "pad_token_id": 1}),
    "m2m_100": ("m2m_100", BART),
    "t5": ("t5", T5),
    "t5 v1.1": ("t5", T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    "mt5": ("mt5", T5),
    "umt5": ("umt5", T5),
    "switch": ("switch_transformers", T5 | SPARSE | {"expert_capacity": 64, "router_bias": True}),
    "t5gemma": ("t5gemma", {"encoder": GEMMA | {"hidden_size": 48, "num_attention_heads": 4, "num_key_value_heads": 1}, "decoder": GEMMA}),
}
PIECES = (1, 3, 1, 1, 2)
SOURCE, TARGET = 13, sum(PIECES)


class Built:
    """A published checkpoint, and what specc makes of it by way of the command line."""

    def __init__(self, kind: str, given: dict[str, Any], work: Path) -> None:
        self.folder = write(work / "checkpoint", transformers.AutoConfig.for_model(kind, **given), "AutoModelForSeq2SeqLM")
        spec = work / "imported.specc"
        assert main(["import", str(self.folder), "-o", str(spec)]) == 0
        assert main(["check", str(spec)]) == 0
        assert main(["build", str(spec), "--to", "torch", "-o", str(work / "torch")]) == 0
        assert main(["build", str(spec), "--to", "onnx", "-o", str(work / "onnx"), "--weights", str(self.folder)]) == 0
        self.network = load_module(work / "torch" / "imported.py").Model.from_checkpoint(self.folder).float().eval()
        self.encoder, self.decoder = session(work / "onnx" / "encoder_model.onnx"), session(work / "onnx" / "decoder_model.onnx")
        self.reference = transformers.AutoModelForSeq2SeqLM.from_pretrained(self.folder, attn_implementation="eager").float().eval()

    def theirs(self, **given: np.ndarray) -> Any:
        with torch.no_grad():
            return self.reference(**_tensors(given))

    def ours(self, cache: Any = None, **given: np.ndarray) -> Any:
        with torch.no_grad():
            return self.network(**_tensors(given), cache=cache)


def _tensors(given: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: torch.from_numpy(value) for name, value in given.items()}


@pytest.fixture(scope="module", params=MODELS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    kind, given = MODELS[request.param]
    return Built(kind, given, tmp_path_factory.mktemp(kind))


@pytest.fixture(scope="module")
def given() -> dict[str, np.ndarray]:
    """A batch of two sources, one of them shorter, and as many targets."""
    draw = np.random.default_rng(7)
    mask = np.ones((2, SOURCE), np.int64)
    mask[1, -4:] = 0
    return {"input_ids": draw.integers(5, 150, (2, SOURCE)), "attention_mask": mask, "decoder_input_ids": draw.integers(5, 150, (2, TARGET))}


def close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return distance(ours, theirs, 1.0) <= TOLERANCE["float32"]


def test_pytorch(built: Built, given: dict[str, np.ndarray]) -> None:
    theirs, ours = built.theirs(**given), built.ours(**given)
    assert close(ours.logits.numpy(), theirs.logits.numpy())
    real = given["attention_mask"].astype(bool)
    assert close(ours.encoder_last_hidden_state.numpy()[real], theirs.encoder_last_hidden_state.numpy()[real])


def test_pytorch_in_steps_runs_the_encoder_once(built: Built, given: dict[str, np.ndarray]) -> None:
    whole, cache, found, start = built.theirs(**given).logits.numpy(), None, [], 0
    for piece in PIECES:
        source = {} if cache else {"input_ids": given["input_ids"]}
        out = built.ours(cache, **source, attention_mask=given["attention_mask"], decoder_input_ids=given["decoder_input_ids"][:, start : start + piece])
        assert (out.encoder_last_hidden_state is None) == (cache is not None)
        found.append(out.logits.numpy())
        cache, start = out.cache, start + piece
    assert close(np.concatenate(found, 1), whole)


def test_a_target_padded_on_the_left(built: Built, given: dict[str, np.ndarray]) -> None:
    """Real tokens are counted from 0, so that a row gives what it gives alone."""
    shorter = given["decoder_input_ids"][1:, 3:]
    alone = built.theirs(input_ids=given["input_ids"][1:, :-4], attention_mask=given["attention_mask"][1:, :-4], decoder_input_ids=shorter).logits.numpy()
    padding = np.ones((2, TARGET), np.int64)
    padding[1, :3] = 0
    ours = built.ours(**given, decoder_attention_mask=padding).logits.numpy()
    assert close(ours[1:, 3:], alone)
    assert close(ours[0], built.theirs(**given).logits.numpy()[0])


def test_onnx(built: Built, given: dict[str, np.ndarray]) -> None:
    theirs = built.theirs(**given)
    hidden = call(built.encoder, given)["last_hidden_state"]
    real = given["attention_mask"].astype(bool)
    assert close(hidden[real], theirs.encoder_last_hidden_state.numpy()[real])
    asked = {"input_ids": given["decoder_input_ids"], "encoder_hidden_states": hidden, "encoder_attention_mask": given["attention_mask"]}
    assert close(call(built.decoder, asked)["logits"], theirs.logits.numpy())


def test_onnx_in_steps_needs_the_encoder_once(built: Built, given: dict[str, np.ndarray]) -> None:
    """The cross cache is made by the first call; later ones read none of the encoder's output, so that it may have length 0."""
    whole, past, found, start = built.theirs(**given).logits.numpy(), {}, [], 0
    hidden = call(built.encoder, given)["last_hidden_state"]
    for piece in PIECES:
        asked = {"input_ids": given["decoder_input_ids"][:, start : start + piece], "encoder_attention_mask": given["attention_mask"]}
        out = call(built.decoder, asked | {"encoder_hidden_states": hidden if not past else hidden[:, :0]} | past)
        found.append(out["logits"])
        past = {name.replace("present", "past_key_values", 1): v for name, v in out.items() if name.startswith("present")}
        assert all(value.shape[2] == (SOURCE if ".encoder." in name else start + piece) for name, value in past.items())
        start += piece
    assert close(np.concatenate(found, 1), whole)


def test_steps_with_little_room_are_the_published_steps(tmp_path: Path, given: dict[str, np.ndarray]) -> None:
    """Experts have room anew in each call: the same pieces are compared, not the whole."""
    made = Built("switch_transformers", T5 | SPARSE | {"expert_capacity": 1}, tmp_path)
    source = {name: given[name] for name in ("input_ids", "attention_mask")}
    hidden = call(made.encoder, source)["last_hidden_state"]
    with torch.no_grad():
        encoded = made.reference.get_encoder()(**_tensors(source))
    theirs, ours, past, start = None, None, {}, 0
    for piece in (3, 5):
        target = given["decoder_input_ids"][:, start : start + piece]
        asked = {"decoder_input_ids": target, "attention_mask": given["attention_mask"]}
        with torch.no_grad():
            theirs = made.reference(**_tensors(asked), encoder_outputs=encoded, cache=theirs and theirs.cache, use_cache=True)
        ours = made.ours(ours and ours.cache, **({} if ours else {"input_ids": given["input_ids"]}), **asked)
        out = call(made.decoder, {"input_ids": target, "encoder_attention_mask": given["attention_mask"], "encoder_hidden_states": hidden} | past)
        past = {name.replace("present", "past_key_values", 1): v for name, v in out.items() if name.startswith("present")}
        assert close(ours.logits.numpy(), theirs.logits.numpy()) and close(out["logits"], theirs.logits.numpy())
        start += piece
