"""Every method over every family: the numbers of peft, merged and beside the weights, in PyTorch and in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from specc.diagnostics.finding import SpecError
from specc.ir.adapter import stays
from specc.tools.importer.adapter.run import import_adapter
from specc.tools.tolerance import TOLERANCE, VISIBLE, distance
from tests.adapter.published import VOCAB, Published, publish, resolved

peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")

MARKS = {"vocab_size": VOCAB, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LLAMA = MARKS | {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 16, "max_position_embeddings": 64,
}  # fmt: skip
GPT2 = MARKS | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}

BERT = MARKS | {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64}


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))


def gpt2():
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))


def mixtral():
    return transformers.MixtralForCausalLM(transformers.MixtralConfig(**LLAMA, num_local_experts=4, num_experts_per_tok=2))


def bert():
    return transformers.BertForMaskedLM(transformers.BertConfig(**BERT))


QKV = "fused(attention.q, attention.k, attention.v)"
# name: the published model, the published adapter, the same in the language
CASES: dict[str, tuple[Callable, Callable, str]] = {
    "llama lora": (
        llama,
        lambda: peft.LoraConfig(r=4, lora_alpha=6, target_modules=["q_proj", "v_proj", "down_proj", "embed_tokens", "lm_head"]),
        "lora(rank: 4, alpha: 6, targets: [attention.q, attention.v, ffn.down, embed.tokens, head])",
    ),
    "llama dora": (
        llama,
        lambda: peft.LoraConfig(r=4, lora_alpha=6, use_rslora=True, use_dora=True, target_modules=["q_proj", "k_proj", "up_proj"]),
        "lora(rank: 4, alpha: 6, dora: true, rank_stabilised: true, targets: [attention.q, attention.k, ffn.up])",
    ),
    "llama ia3": (
        llama,
        lambda: peft.IA3Config(target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"]),
        "ia3(after: [attention.k, attention.v], before: [ffn.down])",
    ),
    "gpt2 ia3": (
        gpt2,
        lambda: peft.IA3Config(target_modules=["c_attn", "mlp.c_proj"], feedforward_modules=["mlp.c_proj"]),
        f"ia3(after: [{QKV}], before: [ffn.down])",
    ),
    "llama prefix": (llama, lambda: peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "prefix(length: 3)"),
    "llama prompt": (llama, lambda: peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "prompt(length: 3)"),
    "gpt2 prefix": (gpt2, lambda: peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "prefix(length: 3)"),
    "gpt2 prompt": (gpt2, lambda: peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "prompt(length: 3)"),
    "bert lora": (
        bert,
        lambda: peft.LoraConfig(r=4, lora_alpha=6, target_modules=["query", "value", "intermediate.dense"]),
        "lora(rank: 4, alpha: 6, targets: [attention.q, attention.v, ffn.up])",
    ),
    "bert dora": (
        bert,
        lambda: peft.LoraConfig(r=4, lora_alpha=6, use_dora=True, target_modules=["key", "output.dense"]),
        "lora(rank: 4, alpha: 6, dora: true, targets: [attention.k, attention.o, ffn.down])",
    ),
    "bert ia3": (
        bert,
        lambda: peft.IA3Config(target_modules=["key", "value", "output.dense"], feedforward_modules=["output.dense"]),
        "ia3(after: [attention.k, attention.v], before: [attention.o, ffn.down])",
    ),
    "bert prompt": (bert, lambda: peft.PromptTuningConfig(task_type="FEATURE_EXTRACTION", num_virtual_tokens=3), "prompt(length: 3)"),
    "mixtral lora": (
        mixtral,
        lambda: peft.LoraConfig(r=3, lora_alpha=5, target_modules=["q_proj"], target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]),
        "lora(rank: 3, alpha: 5, targets: [attention.q, fused(ffn.experts.gate, ffn.experts.up), ffn.experts.down])",
    ),
    "mixtral dora": (
        mixtral,
        lambda: peft.LoraConfig(r=3, lora_alpha=5, use_dora=True, target_modules=["q_proj", "o_proj"]),
        "lora(rank: 3, alpha: 5, dora: true, targets: [attention.q, attention.o])",
    ),
    "mixtral ia3": (mixtral, lambda: peft.IA3Config(target_modules=["k_proj", "v_proj"], feedforward_modules=[]), "ia3(after: [attention.k, attention.v])"),
    "mixtral prefix": (mixtral, lambda: peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "prefix(length: 3)"),
    "mixtral prompt": (mixtral, lambda: peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "prompt(length: 3)"),
    "gpt2 lora": (
        gpt2,
        lambda: peft.LoraConfig(r=4, lora_alpha=6, target_modules=["c_attn", "c_fc"]),
        f"lora(rank: 4, alpha: 6, targets: [{QKV}, ffn.up])",
    ),
    "gpt2 dora": (
        gpt2,
        lambda: peft.LoraConfig(r=4, lora_alpha=6, use_dora=True, target_modules=["c_attn", "c_proj"]),
        f"lora(rank: 4, alpha: 6, dora: true, targets: [{QKV}, attention.o, ffn.down])",
    ),
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Published:
    make, config, body = CASES[request.param]
    # peft lets positions run over the columns of a prompt, padding too: the two mean the same where there is none
    return publish(tmp_path_factory.mktemp("adapter"), make, config(), body, causal="bert" not in request.param, padded="prompt" not in request.param)


def _merges(case: Published) -> bool:
    """Whether the adapter can be merged; where it cannot, that must be said."""
    if stays(case.found.adapter) is None:
        return True
    with pytest.raises(SpecError, match="ADP007"):
        case.onnx(merging=True)
    return False


def _same(got: np.ndarray, case: Published) -> None:
    assert distance(got[case.real], case.want[case.real]) <= TOLERANCE["float32"]


def test_in_pytorch_beside_the_weights(case: Published):
    model = case.model()
    before = case.logits(model)
    case.laid(model)
    _same(case.logits(model), case)
    assert distance(before[case.real], case.want[case.real]) > VISIBLE * TOLERANCE["float32"], "the adapter changes the numbers"


def test_in_pytorch_merged_and_taken_apart_again(case: Published):
    if not _merges(case):
        return
    model = case.model()
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    adapter = case.laid(model)
    adapter.merge()
    _same(case.logits(model), case)
    adapter.unmerge()
    assert all((tensor == weights[name]).all() for name, tensor in model.state_dict().items())


def test_in_onnx_beside_the_weights(case: Published):
    _same(case.onnx(merging=False), case)


def test_in_onnx_merged(case: Published):
    if _merges(case):
        _same(case.onnx(merging=True), case)


def test_an_import_says_the_same(case: Published):
    imported = import_adapter(case.folder / "adapter", case.folder / "base.specc", case.found.base.model, case.folder / "i.specc", "i")
    (case.folder / "i.specc").write_text(imported.text, "utf-8")
    made = resolved(case.folder / "i.specc", "i").adapter
    assert said(made) == said(case.found.adapter)
    assert made.parameters() == case.found.adapter.parameters()


def said(adapter) -> dict[str, tuple]:
    return {site.key: (method.kind, getattr(method, "scale", None), method.dora if method.kind == "lora" else None) for method, site in adapter.sites()}
