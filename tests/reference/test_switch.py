"""Switch routing against the published module: tokens over capacity dropped, sequence by sequence; jitter from the same random numbers."""

from __future__ import annotations

import pytest

from tests.components.probe import spec
from tests.harness import _torch_module, draw, model_of

torch = pytest.importorskip("torch")
switch = pytest.importorskip("transformers.models.switch_transformers.modeling_switch_transformers")
EXPERTS, WIDTH = 4, 16


def pair(capacity: int, more: str = "", bias: bool = False):
    """The published module and ours with the same weights."""
    text = f"switch(capacity: {capacity}{', bias: true' if bias else ''}{more})"
    model = model_of(spec(ffn=f"moe(experts: {EXPERTS}, top_k: 1, expert: mlp(hidden: 12, activation: relu), router: {text})"))
    numbers = {key: torch.tensor(value) for key, value in draw(model).items()}
    made = _torch_module(model).Model()
    made.load_state_dict(numbers)
    config = switch.SwitchTransformersConfig(
        d_model=WIDTH, d_ff=12, num_experts=EXPERTS, expert_capacity=capacity, router_bias=bias, router_jitter_noise=0.1 if more else 0.0,
        dropout_rate=0.0,
    )  # fmt: skip
    published = switch.SwitchTransformersSparseMLP(config)
    names = {"router.weight": "router.classifier.weight", "router.bias": "router.classifier.bias"}
    for e in range(EXPERTS):
        names |= {f"experts.{e}.up.weight": f"experts.expert_{e}.wi.weight", f"experts.{e}.down.weight": f"experts.expert_{e}.wo.weight"}
    own = {key.removeprefix("layers.0.ffn."): value for key, value in numbers.items() if key.startswith("layers.0.ffn.")}
    published.load_state_dict({names[key]: value for key, value in own.items()})
    return published, made.layers[0].ffn


def dropped(out) -> int:
    return int((out == 0).all(dim=-1).sum())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("capacity", [1, 3, 64])
def test_the_published_module(capacity: int, bias: bool) -> None:
    torch.manual_seed(2)
    published, ours = pair(capacity, bias=bias)
    x = torch.randn(3, 11, WIDTH)
    with torch.no_grad():
        want, got = published.eval()(x), ours.eval()(x)
    assert torch.allclose(got, want, atol=1e-6)
    assert dropped(got) == dropped(want) and (dropped(got) > 0) is (capacity < 11)


def test_its_jitter() -> None:
    """In float32 the published router changes its input in place, and so what the experts read: that is jitter of the layer."""
    published, ours = pair(3, ", jitter: 0.1, jitter_at: layer")
    x = torch.randn(3, 11, WIDTH)
    with torch.no_grad():
        torch.manual_seed(5)
        got = ours.train()(x)
        torch.manual_seed(5)
        want = published.train()(x.clone())
    assert torch.allclose(got, want, atol=1e-6)
    assert not torch.allclose(got, ours.eval()(x), atol=1e-2)


def test_its_load_balance() -> None:
    _, ours = pair(2, ", load_balance: 1.0")
    ours(torch.randn(3, 11, WIDTH))
    router = ours.router
    probabilities = router.logits.view(3, 11, EXPERTS).softmax(-1)
    want = switch.load_balancing_loss_func(probabilities, probabilities.argmax(-1))
    # the published one means over sequences, each with shares of its own
    got = torch.stack([_loss(router, slice(row * 11, row * 11 + 11)) for row in range(3)]).mean()
    assert torch.allclose(got, want, rtol=1e-5)


def _loss(router, rows: slice):
    real = torch.zeros(33, dtype=torch.bool)
    real[rows] = True
    return router.loss(real)
