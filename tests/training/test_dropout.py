"""Dropout stands where the published models have it: the same model in training, by the same random numbers, gives the same.

Each row of a large batch is dropped from on its own, so a batch of one text is a sample of what training sees. Most models
draw in the order of the published ones, and then every number is equal; all must have the same mean and deviation.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from specc.diagnostics.finding import Report
from specc.ir.model import Model
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.source import Source
from specc.tools.importer.run import import_model
from tests.components.probe import spec
from tests.harness import _torch_module, model_of
from tests.importer.configs import kind_of, published

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
ROWS, RATE = 600, 0.2
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {  # by config field: the class's task, and more of the config
    "gpt2 resid_pdrop": ("CausalLM", {}),
    "gpt2 embd_pdrop": ("CausalLM", {}),
    "gpt2 attn_pdrop": ("CausalLM", {}),
    "opt dropout": ("CausalLM", {}),
    "phi embd_pdrop": ("CausalLM", {}),
    "phi3 resid_pdrop": ("CausalLM", {}),
    "bloom hidden_dropout": ("CausalLM", {}),
    "gpt_neo embed_dropout": ("CausalLM", {}),
    "starcoder2 residual_dropout": ("CausalLM", {}),
    "starcoder2 embedding_dropout": ("CausalLM", {}),
    "xglm activation_dropout": ("CausalLM", {}),
    "llama attention_dropout": ("CausalLM", {}),
    "mixtral attention_dropout": ("CausalLM", EXPERTS),
    "deepseek_v3 attention_dropout": ("CausalLM", {"num_key_value_heads": 4}),
    "bert hidden_dropout_prob": ("MaskedLM", {}),
    "bert attention_probs_dropout_prob": ("MaskedLM", {}),
    "bert classifier_dropout": ("SequenceClassification", {}),
    "distilbert seq_classif_dropout": ("SequenceClassification", {}),
    "roberta classifier_dropout": ("TokenClassification", {}),
    "t5 dropout_rate": ("Seq2SeqLM", {"num_decoder_layers": 2, "d_kv": 16, "d_ff": 96}),
    "bart activation_dropout": ("Seq2SeqLM", {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96,
                                              "encoder_attention_heads": 4, "decoder_attention_heads": 4}),
    "bart dropout": ("Seq2SeqLM", {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96,
                                   "encoder_attention_heads": 4, "decoder_attention_heads": 4}),
}  # fmt: skip


def both(name: str, folder: Path) -> tuple[Any, Any, Model]:
    """The published model with one rate set and all others zero, and ours of its checkpoint."""
    family, field = name.split()
    task, more = MODELS[name]
    config = published(family, **more)
    rates = {n: 0.0 for n, v in config.items() if "drop" in n and isinstance(v, float)} | {field: RATE}
    given = {n: v for n, v in (config | rates).items() if n not in ("model_type", "architectures")}
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = getattr(transformers, f"AutoModelFor{task}").from_config(
            transformers.AutoConfig.for_model(kind_of(family), **given), attn_implementation="eager"
        )
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    made.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config))
    program = load_source(Source("m.specc", import_model(folder, "m").text), Path("m.specc"))
    model = resolve(program.models["m"], program, Report()).model
    return made.train(), _torch_module(model).Model.from_checkpoint(folder).train(), model


@pytest.mark.parametrize("name", MODELS)
def test_dropout_is_where_the_published_model_has_it(name: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    published, ours, _ = both(name, tmp_path)
    ids = (torch.arange(6) * 7 + 5).repeat(ROWS, 1)
    given = {"input_ids": ids} | ({"decoder_input_ids": ids[:, :4]} if MODELS[name][0] == "Seq2SeqLM" else {})
    found = []
    with torch.no_grad():
        for model in (published, ours):
            torch.manual_seed(3)
            found.append(model(**given).logits.double().flatten(1))
    want, got = found
    deviation = want.std(dim=0).mean()
    assert deviation > 1e-3, "the field has no effect"
    if torch.allclose(want, got, atol=1e-4):
        return
    # other draws of the same: means apart by their own error, deviations by theirs
    error = 1 / ROWS**0.5
    assert ((want.mean(0) - got.mean(0)).abs() / (want.std(0) + 1e-6)).mean() < 1.5 * error
    assert abs(got.std(dim=0).mean() / deviation - 1) < error


RATES = {"dropout": 0.1, "embed_dropout": 0.2, "final_dropout": 0.3, "attention_dropout": 0.4}


def test_each_rate_has_its_place() -> None:
    """Every rate of its own is printed once for each place, and no place is left out."""
    ffn = "moe(experts: 4, top_k: 2, expert: gated(hidden: 6, activation: silu, dropout: 0.6), router: softmax)"
    model = model_of(spec(**RATES, ffn=ffn, head="classify(3, pool: last, dropout: 0.5)"))
    seen: list[float] = []
    original = torch.nn.functional.dropout

    def dropout(x, p=0.5, training=True, inplace=False):
        seen.append(round(p, 3))
        assert training
        return original(x, p, training, inplace)

    network = _torch_module(model).Model().train()
    torch.nn.functional.dropout = dropout
    try:
        network(input_ids=torch.tensor([[1, 2, 3, 4]]))
    finally:
        torch.nn.functional.dropout = original
    experts = seen.count(0.6)
    assert [rate for rate in seen if rate != 0.6] == [0.2, 0.1, 0.1, 0.1, 0.1, 0.3, 0.5] and experts == 8  # 4 experts in 2 layers


def test_the_embedding_s_is_that_of_the_sublayers_where_it_is_not_stated() -> None:
    assert model_of(spec(dropout=0.1)).training.embed_dropout == 0.1
    assert model_of(spec(dropout=0.1, embed_dropout=0)).training.embed_dropout == 0
