"""What the config's class asks for: no head, a classifier of texts or of tokens, in every family that has them, against transformers."""

from __future__ import annotations

import copy
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specc.faces.cli import main
from tests.importer.configs import kind_of
from tests.reference.published import call, load_module, positions, session, write
from tests.tolerance import TOLERANCE, distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

COMMON = {"vocab_size": 61, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
WIDE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
FAMILIES: dict[str, dict[str, Any]] = {
    "albert": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32, "embedding_size": 8, "num_hidden_layers": 4, "num_hidden_groups": 2},
    "bert": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
    "bloom": {"hidden_size": 16, "n_layer": 2, "n_head": 2},
    "camembert": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
    "codegen": {"n_embd": 16, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 32},
    "dbrx": {"d_model": 16, "n_layers": 2, "n_heads": 2, "attn_config": {"kv_n_heads": 1, "clip_qkv": 0.5, "rope_theta": 1e4},
             "ffn_config": {"ffn_hidden_size": 24, "moe_num_experts": 4, "moe_top_k": 2}},
    "deberta_v2": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 32},
    "electra": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32, "embedding_size": 8},
    "esm": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32, "mask_token_id": 7, "token_dropout": True},
    "falcon": WIDE,
    "gemma2": WIDE | {"intermediate_size": 24, "num_key_value_heads": 1, "head_dim": 8, "sliding_window": 4},
    "gpt_bigcode": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32},
    "gpt_neo": {"hidden_size": 16, "num_layers": 2, "num_heads": 2, "attention_types": [[["global", "local"], 1]], "window_size": 4,
                "max_position_embeddings": 32},
    "gpt_neox": WIDE | {"intermediate_size": 24},
    "gptj": {"n_embd": 16, "n_layer": 2, "n_head": 2, "rotary_dim": 4, "n_positions": 32},
    "llama": WIDE | {"intermediate_size": 24},
    "megatron_bert": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
    "modernbert_decoder": WIDE | {"intermediate_size": 24, "num_hidden_layers": 3, "global_attn_every_n_layers": 2, "local_attention": 8,
                                  "norm_bias": True, "classifier_bias": True},
    "modernbert": WIDE | {"intermediate_size": 24, "num_hidden_layers": 3, "global_attn_every_n_layers": 2, "local_attention": 4,
                          "norm_bias": True, "classifier_bias": True, "classifier_activation": "silu"},
    "mpnet": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
    "nomic_bert": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
    "mpt": {"d_model": 16, "n_layers": 2, "n_heads": 2},
    "openai_gpt": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32},
    "opt": WIDE | {"ffn_dim": 24, "max_position_embeddings": 32, "word_embed_proj_dim": 16},
    "phi": WIDE | {"intermediate_size": 24},
    "roberta": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
    "roformer": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32, "embedding_size": 8},
    "stablelm": WIDE | {"intermediate_size": 24, "num_key_value_heads": 1, "use_qkv_bias": True},
    "xglm": {"d_model": 16, "num_layers": 2, "attention_heads": 2, "ffn_dim": 24, "max_position_embeddings": 32},
    "xlm_roberta": WIDE | {"intermediate_size": 24, "max_position_embeddings": 32},
}  # fmt: skip
ENCODERS = ("albert", "bert", "camembert", "deberta_v2", "distilbert", "electra", "esm", "megatron_bert", "modernbert", "mpnet", "nomic_bert", "roberta",
            "roformer", "xlm_roberta")  # fmt: skip
TASKS = {
    "MaskedLM": "AutoModelForMaskedLM",
    "CausalLM": "AutoModelForCausalLM",
    "Model": "AutoModel",
    "SequenceClassification": "AutoModelForSequenceClassification",
    "TokenClassification": "AutoModelForTokenClassification",
    "QuestionAnswering": "AutoModelForQuestionAnswering",
    "MultipleChoice": "AutoModelForMultipleChoice",
    "PreTraining": "AutoModelForPreTraining",
    "NextSentencePrediction": "AutoModelForNextSentencePrediction",
}
OF_ENCODERS = ("MaskedLM", "QuestionAnswering", "MultipleChoice", "PreTraining", "NextSentencePrediction")
PRETRAINED = ("albert", "bert", "electra", "megatron_bert")  # with a class of that name; elsewhere it is another one of these
NONE = {("codegen", "SequenceClassification"), ("codegen", "TokenClassification"), ("dbrx", "SequenceClassification"), ("dbrx", "TokenClassification"),
        ("esm", "QuestionAnswering"), ("esm", "MultipleChoice"), ("nomic_bert", "QuestionAnswering"), ("nomic_bert", "MultipleChoice"),
        ("gptj", "TokenClassification"), ("modernbert_decoder", "TokenClassification"), ("openai_gpt", "TokenClassification"), ("opt", "TokenClassification"), ("roformer", "MultipleChoice"),
        ("xglm", "SequenceClassification"), ("xglm", "TokenClassification")}  # fmt: skip


def _has(family: str, task: str) -> bool:
    if task in OF_ENCODERS and family not in ENCODERS or task == "CausalLM" and family in ENCODERS or (family, task) in NONE:
        return False
    return family in {"PreTraining": PRETRAINED, "NextSentencePrediction": ("bert", "megatron_bert")}.get(task, (family,))


CASES = [(family, task) for family in FAMILIES for task in TASKS if _has(family, task)]


@pytest.mark.parametrize(("family", "task"), CASES)
def test_a_head_computes_what_the_published_class_does(family: str, task: str, tmp_path: Path) -> None:
    compare(family, task, tmp_path)


@pytest.mark.parametrize("parallel", [True, False])
def test_stablelm_s_two_forms(parallel: bool, tmp_path: Path) -> None:
    compare("stablelm", "CausalLM", tmp_path, use_parallel_residual=parallel)


@pytest.mark.parametrize(
    "form",
    [
        {"share_att_key": True, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "legacy": False, "position_biased_input": False},
        {"position_buckets": 4, "pos_att_type": "c2p", "type_vocab_size": 2},
        {"relative_attention": False, "pos_att_type": ["p2c"]},
    ],
)
def test_deberta_s_forms(form: dict[str, Any], tmp_path: Path) -> None:
    compare("deberta_v2", "MaskedLM", tmp_path, **form)


def compare(family: str, task: str, tmp_path: Path, **more: Any) -> None:
    """The whole way from a checkpoint to numbers, in both back ends."""
    labels = {"num_labels": 2 if task == "QuestionAnswering" else 5}
    config = transformers.AutoConfig.for_model(kind_of(family), **copy.deepcopy(COMMON | FAMILIES[family] | labels | more))
    folder = write(tmp_path / "checkpoint", config, TASKS[task], spread=0.2)
    spec = tmp_path / "imported.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path)]) == 0
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder)]) == 0
    ids = np.random.default_rng(3).integers(5, 60, (2, 9))
    mask = np.ones_like(ids)
    if family in ENCODERS:
        mask[1, 6:], ids[1, 6:] = 0, COMMON["pad_token_id"]
    given = {"input_ids": ids, "attention_mask": mask}
    network = load_module(tmp_path / "imported.py").Model.from_checkpoint(folder).float().eval()
    if "token_type_ids" in inspect.signature(network.forward).parameters:
        given["token_type_ids"] = (np.arange(9) > 4)[None].repeat(2, 0).astype(np.int64)
    tensors = {name: torch.from_numpy(value) for name, value in given.items()}
    reference = getattr(transformers, TASKS[task]).from_pretrained(folder, attn_implementation="eager").float().eval()
    several = task == "MultipleChoice"  # the library lays the choices of a question along an axis of their own
    with torch.no_grad():
        theirs, ours = reference(**{name: t[None] if several else t for name, t in tensors.items()}), network(**tensors)
    graph = call(session(tmp_path / "model.onnx"), given | {"position_ids": positions(mask)})
    names = {"Model": {"last_hidden_state": "last_hidden_state"}, "QuestionAnswering": {"start_logits": "start_logits", "end_logits": "end_logits"}}
    if task == "PreTraining" and family != "electra":
        names["PreTraining"] = {"logits": "prediction_logits", "seq_relationship_logits": "sop_logits" if family == "albert" else "seq_relationship_logits"}
    for name, published in names.get(task, {"logits": "logits"}).items():
        want = getattr(theirs, published).numpy()
        want = want.T if several else want
        per_token = want.ndim > 1 and want.shape[1] == ids.shape[1] and task not in ("SequenceClassification", "NextSentencePrediction")
        real = mask.astype(bool) if per_token else slice(None)
        assert distance(getattr(ours, name).numpy()[real], want[real]) < TOLERANCE["float32"]
        assert distance(graph[name][real], want[real]) < TOLERANCE["float32"]
