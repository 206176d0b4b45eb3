"""What is written as peft's folder, peft reads, and computes the same numbers."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
import torch

from specc.diagnostics.finding import Report, SpecError
from specc.resolve.adapter import resolve_adapter
from specc.resolve.program import load
from specc.tools.importer.run import import_model
from specc.tools.tolerance import TOLERANCE, distance
from specc.weights.adapter.export import to_published
from specc.weights.adapter.held import open_adapter
from tests.adapter.published import IDS, perturb, python
from tests.adapter.test_against_peft import QKV, bert, gpt2, llama, mixtral

peft = pytest.importorskip("peft")

CASES = {
    "q and v": (llama, "lora(rank: 3, alpha: 5, targets: [attention.q])  lora(rank: 2, alpha: 7, rank_stabilised: true, targets: [attention.v, ffn.down])"),
    "a few layers": (llama, "lora(rank: 3, alpha: 5, targets: [attention.q], layers: [1])"),
    "table and head": (llama, "lora(rank: 3, alpha: 5, targets: [embed.tokens, head])"),
    "dora": (llama, "lora(rank: 3, alpha: 5, dora: true, targets: [attention.k, ffn.up])"),
    "fused": (gpt2, f"lora(rank: 3, alpha: 5, targets: [{QKV}, ffn.up])"),
    "a part of fused": (gpt2, "lora(rank: 3, alpha: 5, targets: [attention.q, attention.v])"),
    "fused dora": (gpt2, f"lora(rank: 3, alpha: 5, dora: true, targets: [{QKV}])"),
    "ia3": (gpt2, "ia3(after: [attention.k], before: [ffn.down])"),
    "bert": (bert, "lora(rank: 3, alpha: 5, targets: [attention.q, attention.o])"),
    "prefix": (llama, "prefix(length: 3)"),
    "trained prefix": (llama, "prefix(length: 3, reparameterised: 9)"),
    "prompt": (llama, "prompt(length: 3)"),
    "experts": (mixtral, "lora(rank: 2, alpha: 3, targets: [fused(ffn.experts.gate, ffn.experts.up), ffn.experts.down, attention.v])"),
}


@pytest.mark.parametrize("name", CASES)
def test_peft_reads_what_was_written(tmp_path: Path, name: str):
    from specc.backends.torch.adapter.emit import emit_adapter
    from specc.backends.torch.emit import emit

    make, body = CASES[name]
    torch.manual_seed(0)
    model = make().eval()
    perturb(model.parameters())
    model.save_pretrained(tmp_path / "base")
    (tmp_path / "base.specc").write_text(import_model(tmp_path / "base", "base").text, "utf-8")
    (tmp_path / "a.specc").write_text(f'adapter a for "base.specc" {{ {body} }}\n', "utf-8")
    program = load(tmp_path / "a.specc")
    adapter = resolve_adapter(program.adapters["a"], program, Report()).adapter
    own = python(emit(adapter.base), "generated_base").Model.from_checkpoint(tmp_path / "base").eval()
    over = python(emit_adapter(adapter), "generated_adapter").Adapter(own)
    perturb(over.parameters(), 0.2)
    tensors = {key: tensor.numpy() for key, tensor in over.state_dict().items()}
    to_published(adapter, tensors, tmp_path / "out")
    ids = torch.ones_like(IDS) + IDS % 50
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = own(ids).logits
        want = peft.PeftModel.from_pretrained(model, str(tmp_path / "out")).eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
    assert distance(got, want[:, -ids.shape[1] :]) <= TOLERANCE["float32"]
    if name not in ("a part of fused", "trained prefix", "ia3", "q and v"):  # those are written in another form
        again = open_adapter(tmp_path / "out", adapter)
        assert all(distance(again[key], tensors[key]) <= 1e-6 for key in tensors)
    assert "/" not in json.dumps(json.loads((tmp_path / "out" / "adapter_config.json").read_text()))


@pytest.mark.parametrize(
    "body",
    [
        "bottleneck(dim: 4, activation: relu, after: [ffn])",
        "lora(rank: 2, targets: [attention.q]) prefix(length: 2)",
        "lora(rank: 2, dora: true, targets: [attention.q])",
    ],
)
def test_what_peft_cannot_hold_is_refused(tmp_path: Path, body: str):
    model = gpt2()
    model.save_pretrained(tmp_path / "base")
    (tmp_path / "base.specc").write_text(import_model(tmp_path / "base", "base").text, "utf-8")
    (tmp_path / "a.specc").write_text(f'adapter a for "base.specc" {{ {body} }}\n', "utf-8")
    program = load(tmp_path / "a.specc")
    adapter = resolve_adapter(program.adapters["a"], program, Report()).adapter
    drawn = {name: torch.randn(p.shape).numpy() for name, p in adapter.parameters().items()}
    with pytest.raises(SpecError, match="ADP011"):
        to_published(adapter, drawn, tmp_path / "out")
