"""The printed file as a program: parameters, cache, padding, gradients, compilation."""

from __future__ import annotations

from shutil import which

import pytest
import torch

from tests.backends.torch.models import CAUSAL, SPECS, filled, generated, named, result

CACHED = [name for name in CAUSAL if "classify" not in SPECS[name] and name != "scaled_ropes"]
PADDED = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1]])


def tokens(batch: int = 2, length: int = 9, seed: int = 1) -> torch.Tensor:
    return torch.randint(0, 97, (batch, length), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", SPECS)
def test_the_state_dict_is_the_irs(name: str):
    state = generated(name).Model().state_dict()
    assert {key: tuple(value.shape) for key, value in state.items()} == {key: p.shape for key, p in named(name).parameters().items()}


@pytest.mark.parametrize("name", SPECS)
def test_parameters_start_as_the_ir_says(name: str):
    state = generated(name).Model().state_dict()
    for key, parameter in named(name).parameters().items():
        if parameter.init == "ones":
            assert (state[key] == 1).all(), key
        elif parameter.init == "zeros" and "norm" in key:
            assert (state[key] == 0).all(), key


@pytest.mark.parametrize("name", CACHED)
def test_cached_steps_equal_the_full_pass(name: str):
    made, ids = filled(name), tokens()
    with torch.no_grad():
        for mask in (None, PADDED):
            whole = made(ids, mask)
            cache, pieces, at = None, [], 0
            for size in (4, 1, 3, 1):
                seen = None if mask is None else mask[:, : at + size]
                out = made(ids[:, at : at + size], seen, cache=cache)
                cache = out.cache
                pieces.append(result(out))
                at += size
            real = torch.ones_like(ids).bool() if mask is None else mask.bool()
            torch.testing.assert_close(torch.cat(pieces, dim=1)[real], result(whole)[real], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", SPECS)
def test_padding_changes_no_real_token(name: str):
    if name == "scaled_ropes":
        pytest.skip("some of its tables depend on the longest row of the batch")
    made, ids = filled(name), tokens()
    mask = PADDED if named(name).stack.causal else PADDED.flip(1)
    ids_alone = ids[:1, 2:] if named(name).stack.causal else ids[:1, :-2]
    with torch.no_grad():
        out, alone = result(made(ids, mask)), result(made(ids_alone))
    if out.dim() == 3:
        out = out[:, 2:] if named(name).stack.causal else out[:, :-2]
    torch.testing.assert_close(out[:1], alone, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", SPECS)
def test_a_row_of_padding_is_finite_and_so_are_its_gradients(name: str):
    made, ids, mask = filled(name), tokens(), PADDED.clone()
    mask[0] = 0
    out = result(made(ids, mask))
    out.square().mean().backward()
    assert out.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in made.parameters())


@pytest.mark.parametrize("name", SPECS)
def test_a_gradient_reaches_every_parameter(name: str):
    made = filled(name)
    extra = {"token_type_ids": tokens() % 2} if "segments" in SPECS[name] else {}
    out = made(tokens(), **extra)
    found = out.pooler_output if hasattr(out, "pooler_output") else result(out)
    (found.square().mean() + result(out).square().mean()).backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in made.parameters())


# one for each mechanism that could break a graph: masks and their checks, tables by length, kinds of layers, sinks, a pool
COMPILED = ("llama", "bert_mlm", "gpt_oss", "scaled_ropes", "unlike_layers", "prefix_lm", "packed", "classify_last")


@pytest.mark.parametrize("name", COMPILED)
def test_the_whole_model_compiles_to_one_graph(name: str):
    made, ids = filled(name), tokens()
    torch.compiler.reset()
    compiled = torch.compile(made, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        for mask in (None, PADDED):
            torch.testing.assert_close(result(compiled(ids, mask)), result(made(ids, mask)), rtol=2e-5, atol=2e-5)
        if name in CACHED[:3]:
            step = compiled(ids[:, 5:], cache=compiled(ids[:, :5]).cache)
            torch.testing.assert_close(result(step), result(made(ids))[:, 5:], rtol=2e-5, atol=2e-5)


@pytest.mark.skipif(which("g++") is None, reason="inductor needs a C++ compiler")
# torch's own import of a part of inductor warns.
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")
def test_the_default_compiler_runs_the_same_numbers():
    made, ids = filled("llama"), tokens()
    torch.compiler.reset()
    compiled = torch.compile(made, fullgraph=True, backend="inductor")
    with torch.no_grad():
        torch.testing.assert_close(result(compiled(ids, PADDED)), result(made(ids, PADDED)), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt2", "bert_mlm"])
def test_one_batch_can_be_learned_by_heart(name: str):
    torch.manual_seed(0)
    made, ids = generated(name).Model().train(), tokens(2, 8)
    causal = named(name).stack.causal
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-2)
    losses = []
    for _ in range(40):
        logits = made(ids).logits
        wanted = ids[:, 1:] if causal else ids
        loss = torch.nn.functional.cross_entropy(logits[:, : wanted.shape[1]].flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]  # the capped logits of gemma2 cannot go to zero


def test_dropout_is_only_for_training():
    made, ids = filled("no_rope_layers"), tokens()
    assert torch.equal(made(ids).logits, made(ids).logits)
    made.train()
    assert not torch.equal(made(ids).logits, made(ids).logits)


@pytest.mark.parametrize("name", ["llama", "gemma2", "bert_mlm", "classify"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near_full_precision(name: str, dtype: torch.dtype):
    made, ids = filled(name), tokens()
    with torch.no_grad():
        full = result(made(ids, PADDED))
        half = result(made.to(dtype)(ids, PADDED))
    assert half.dtype == dtype
    assert (half.float() - full).abs().max() < 0.1 * full.abs().max()
