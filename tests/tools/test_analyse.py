"""Costs, held against counts by hand, against published counts, and against the operations that PyTorch counts."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from specc.faces.cli import main
from specc.faces.loading import one_model
from specc.resources import SPECS
from specc.tools.analyse import Costs
from specc.tools.shrink import miniature
from tests.components.probe import spec
from tests.harness import model_of

# exact counts of the published checkpoints, a tied tensor once
PUBLISHED = {
    "gpt2": 124_439_808,
    "gpt2_xl": 1_557_611_200,
    "bert_base": 109_482_240,
    "bert_base_mlm": 109_514_298,
    "bert_large": 335_141_888,
    "minilm_l6": 22_713_216,
    "llama3_8b": 8_030_261_248,
    "llama3_70b": 70_553_706_496,
    "mistral_7b": 7_241_732_096,
    "olmo2_7b": 7_298_617_344,
    "gemma2_9b": 9_241_705_984,
}
TINY = """model tiny {
  vocab = 50  dim = 8  depth = 3  context = 10
  position = rope(theta: 100)  norm = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: norm, qk_norm_over: each_head)
  ffn = gated(hidden: 20, activation: silu)
  block = pre_norm  head = lm(tied: true)
  layer local { mask = sliding(4) }  layer global { mask = causal }
  layers = [2 * local, global]
}"""
FILES = sorted((SPECS / "models").glob("*.specc"), key=lambda path: path.name)


def published(name: str) -> Costs:
    return Costs(one_model(str(SPECS / "models" / f"{name}.specc")).model)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_parameters(name: str):
    assert published(name).parameters == PUBLISHED[name]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_parts_are_the_whole(path: Path):
    model = one_model(str(path)).model
    costs = Costs(model)
    assert costs.parameters == sum(p.size for p in model.parameters().values() if p.role != "fixed")
    assert costs.stored == sum(p.size for p in model.parameters().values())


def test_by_hand():
    costs = Costs(model_of(TINY))
    q, kv, norms = 8 * 24, 8 * 12, 4 * 6 + 2 * 6
    attention, ffn = q + 2 * kv + q, 3 * 8 * 20
    assert costs.by_part == {"embedding": 400, "attention": 3 * (attention + norms), "ffn": 3 * ffn, "norm": 3 * 16, "final norm": 8}
    fixed = 2 * (3 * (attention + ffn) + 400)
    assert [costs.flops(n) for n in (1, 4, 10)] == [fixed + 4 * 24 * keys for keys in (3, 12, 2 * 4 + 10)]
    local, full = 1 + 2 + 3 + 7 * 4, 55
    assert costs.forward(10) == 10 * fixed + 4 * 24 * (2 * local + full)
    assert costs.training_flops(100) == (600 * costs.parameters, 3 * costs.forward(10) * 10)
    assert costs.optimal_tokens == 20 * costs.parameters


def test_cache_by_hand():
    costs = Costs(model_of(TINY))
    assert costs.kv_cache(1, "bf16") == 3 * 2 * 2 * 6 * 2
    assert costs.kv_cache(10, "fp32") == 2 * costs.kv_cache(10, "fp16") == 10 * 3 * 2 * 2 * 6 * 4
    assert costs.kv_cache(10, "fp16", reachable=True) == (2 * 4 + 10) * 2 * 2 * 6 * 2
    assert published("bert_base").kv_cache(512) == 0


def test_published_caches():
    assert published("llama3_8b").kv_cache(1) == 131_072
    assert published("llama3_70b").kv_cache(1) == 327_680
    assert published("gpt2").kv_cache(1) == 36_864


@pytest.mark.parametrize("name", PUBLISHED)
def test_pytorch_counts_the_same(name: str):
    """The matrix products of the generated module, which computes hidden scores too: every token then sees every key."""
    torch = pytest.importorskip("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from specc.tools.verify.by_torch import generated

    model, length = miniature(one_model(str(SPECS / "models" / f"{name}.specc")).model), 11  # within every window
    with torch.device("meta"):
        network = generated(model).Model().eval()
        ids = torch.zeros(1, length, dtype=torch.int64)
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
            network(ids)
    costs = Costs(model)
    once = sum(head.component.flops_per_sequence(model.stack.dims) for head in model.heads)
    assert counter.get_total_flops() == length * costs.flops(length) + once


def test_a_deep_model_takes_milliseconds():
    model = model_of(
        """model deep { vocab = 128_256  dim = 16_384  depth = 126  context = 131_072
        position = rope(theta: 500_000)  mask = causal  norm = rms(eps: 1e-5)  attention = attention(heads: 128, kv_heads: 8)
        ffn = gated(hidden: 53_248, activation: silu)  block = pre_norm  head = lm(tied: false) }"""
    )
    costs, start = Costs(model), time.perf_counter()
    assert (costs.parameters, costs.active) == (405_853_388_800,) * 2
    costs.flops(1), costs.forward(131_072), costs.kv_cache(131_072)
    assert time.perf_counter() - start < 0.05


def test_the_command(capsys: pytest.CaptureFixture[str]):
    spec = str(SPECS / "models" / "mistral_7b.specc")
    assert main(["stats", spec]) == 0
    printed = capsys.readouterr().out
    assert "7,241,732,096" in printed and "512 MiB" in printed
    assert main(["stats", spec, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parameters"]["total"] == 7_241_732_096 and found["cache_bytes"]["per token"]["bf16"] == 131_072


def test_what_a_block_calls_twice_works_and_keeps_twice():
    """Its weights are one; each call has a cache of its own."""

    def costs(first: str, second: str) -> Costs:
        block = f"block twice(x) {{ final_norm = norm  x = x + {first}(norm.a(x))  x = x + {second}(norm.b(x)) }}\n"
        return Costs(model_of(block + spec(block="twice")))

    one, two = costs("attention", "attention"), costs("attention.a", "attention.b")
    assert one.kv_cache(100) == two.kv_cache(100) == 2 * 2 * 2 * 2 * 6 * 100 * 2
    assert one.flops(100) == two.flops(100)
    assert one.forward(10) == two.forward(10)
    assert one.parameters == two.parameters - 2 * 16 * 6 * (4 + 2) * 2
