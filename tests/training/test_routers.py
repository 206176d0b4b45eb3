"""What training does to routers: jitter and sampling as distributions, losses against their formulas and the published functions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.components.probe import spec
from tests.harness import _torch_module, draw, model_of

torch = pytest.importorskip("torch")
EXPERTS, WIDTH, ROWS = 5, 16, 40_000


def routed(router: str, top_k: int = 2, **fields: object) -> str:
    ffn = f"moe(experts: {EXPERTS}, top_k: {top_k}, expert: mlp(hidden: 6, activation: relu), router: {router})"
    return spec(ffn=ffn, **fields)


def network(text: str):
    """The generated model with drawn weights."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = model_of(text)
    made = _torch_module(model).Model()
    made.load_state_dict({key: torch.tensor(value) for key, value in draw(model).items()})
    return made


def part(made, name: str):
    return next(m for m in made.modules() if type(m).__name__ == name)


def batch() -> dict:
    mask = torch.ones(3, 9, dtype=torch.int64)
    mask[1, 6:], mask[2, :4] = 0, 0
    return {"input_ids": torch.arange(27).view(3, 9) * 5 % 24, "attention_mask": mask}


# ---- jitter


def drawn_factors(made, x) -> np.ndarray:
    """What the router multiplied its input by, seen through a weight that copies the first channels."""
    router = part(made, "SoftmaxRouter")
    with torch.no_grad():
        router.weight.copy_(torch.eye(EXPERTS, WIDTH))
        router(x)
    return (router.logits / x[:, :EXPERTS]).numpy()


def test_jitter_is_uniform_around_one() -> None:
    made = network(routed("softmax(jitter: 0.1, z_loss: 1.0)")).train()
    factors = np.sort(drawn_factors(made, torch.randn(ROWS, WIDTH) + 3).ravel())
    steps = np.abs(factors - np.linspace(0.9, 1.1, factors.size)).max()
    assert 0.9 - 1e-5 <= factors[0] and factors[-1] <= 1.1 + 1e-5 and steps < 2e-3
    assert abs(factors.std() - 0.1 / 3**0.5) < 1e-3


def test_no_jitter_outside_training() -> None:
    made = network(routed("softmax(jitter: 0.1, z_loss: 1.0)")).eval()
    assert np.abs(drawn_factors(made, torch.randn(99, WIDTH) + 3) - 1).max() < 1e-5


@pytest.mark.parametrize(("at", "shared"), [("router", False), ("layer", True)])
def test_who_reads_it(at: str, shared: bool) -> None:
    """At the router the experts read what came in; at the layer they read what the router reads."""
    made = network(routed(f"softmax(jitter: 0.1, jitter_at: {at})")).train()
    moe, reads = part(made, "MixtureOfExperts"), {"router": set(), "expert": set()}
    for name, module in (("router", moe.router), *(("expert", expert) for expert in moe.experts)):
        module.register_forward_pre_hook(lambda _, given, name=name: reads[name].update(map(tuple, given[0].tolist())))
    x = torch.randn(1, 500, WIDTH) + 3
    with torch.no_grad():
        moe(x)
    came = set(map(tuple, x[0].tolist()))
    assert reads["expert"] == reads["router"] and len(came) == 500
    assert reads["expert"].isdisjoint(came) is shared


# ---- losses


def by_hand(logits: np.ndarray, chosen: np.ndarray, probabilities: np.ndarray) -> tuple[float, float]:
    """E * sum of f_i p_i (Fedus et al., 2021, equations 4 to 6), and the z-loss (Zoph et al., 2022, equation 5)."""
    tokens = len(logits)
    balance = sum((chosen == i).sum() / tokens * probabilities[:, i].sum() / tokens for i in range(EXPERTS)) * EXPERTS
    return float(balance), float(np.mean([np.log(np.exp(row).sum()) ** 2 for row in logits]))


@pytest.mark.parametrize("kind", ["softmax(order: top_k_first, {})", "softmax(normalize: true, {})", "sigmoid(normalize: true, {})", "sparsemixer({})"])
def test_the_auxiliary_loss_is_its_formula(kind: str) -> None:
    made, given = network(routed(kind.format("load_balance: 0.7, z_loss: 0.3"))).eval(), batch()
    got = made(**given).aux_loss.item()
    real, want = given["attention_mask"].bool().flatten(), 0.0
    for router in (layer.ffn.router for layer in made.layers):
        logits, chosen = router.logits[real].detach().double().numpy(), router.chosen[real].numpy()
        shares = 1 / (1 + np.exp(-logits)) if "sigmoid" in kind else np.exp(logits)
        balance, z_loss = by_hand(logits, chosen, shares / shares.sum(1, keepdims=True))
        want += 0.7 * balance + 0.3 * z_loss
    assert got == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("padded", [False, True])
def test_load_balance_is_the_published_one(padded: bool) -> None:
    published = pytest.importorskip("transformers.models.mixtral.modeling_mixtral").load_balancing_loss_func
    made, given = network(routed("softmax(order: top_k_first, load_balance: 1.0)", depth=1)).eval(), batch()
    if not padded:
        del given["attention_mask"]
    got = made(**given).aux_loss.item()
    want = published((part(made, "SoftmaxRouter").logits,), EXPERTS, 2, given.get("attention_mask"))
    assert got == pytest.approx(want.item(), rel=1e-5)


def test_z_loss_is_the_published_one() -> None:
    published = pytest.importorskip("transformers.models.switch_transformers.modeling_switch_transformers").router_z_loss_func
    made, given = network(routed("softmax(z_loss: 1.0)", depth=1)).eval(), batch()
    got = made(input_ids=given["input_ids"]).aux_loss.item()
    assert got == pytest.approx(published(part(made, "SoftmaxRouter").logits.view(3, 9, EXPERTS)).item(), rel=1e-5)


def test_the_losses_teach_the_router() -> None:
    """They have gradients, and stepping down them evens the experts' shares out."""
    made, given = network(routed("softmax(load_balance: 1.0, z_loss: 0.01)", depth=1)).train(), batch()
    optimizer = torch.optim.Adam(made.parameters(), lr=0.02)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = made(**given).aux_loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    even = 2  # E * sum of f_i p_i where each expert has its share of two choices a token
    assert even <= losses[-1] + 0.01 < even + 0.3 * (losses[0] - even)


def test_a_model_without_losses_has_none() -> None:
    assert not hasattr(network(routed("softmax(jitter: 0.1)"))(input_ids=batch()["input_ids"]), "aux_loss")


# ---- sparse mixing


def mixer(margin: float):
    made = part(network(routed(f"sparsemixer(margin: {margin}, z_loss: 1.0)")), "SparseMixer")
    logits = torch.tensor([1.0, 0.95, 0.9, 0.2, -1.0])
    with torch.no_grad():
        made.weight.zero_()
        made.weight[:, 0] = logits
    x = torch.zeros(ROWS, WIDTH)
    x[:, 0] = 1
    return made, x, logits


def test_sparse_mixing_draws_by_share() -> None:
    """Among those nearly as good as the best, each as often as its softmax says; the others never."""
    made, x, logits = mixer(0.06)  # 1.0, 0.95 and 0.9 are within 2 x 0.06 of the best
    weights, chosen = made.train()(x)
    shares = logits[:3].softmax(0)
    for e in range(5):
        assert abs((chosen[:, 0] == e).float().mean().item() - (shares[e].item() if e < 3 else 0)) < 0.01
    assert (chosen[:, 0] != chosen[:, 1]).all() and (chosen < 3).all()

    best, other = weights[chosen[:, 0] == 0, 0], weights[chosen[:, 0] == 1, 0]
    assert torch.allclose(best, shares[0])
    whole = (other - shares[1]).abs() < 1e-6
    assert abs(whole.float().mean().item() - 0.25) < 0.01  # Heun's third-order method
    assert torch.allclose(other[~whole], shares[1] / 3)


def test_sparse_mixing_s_gradient_is_that_of_the_whole_weight() -> None:
    """Whatever the drawn weight is scaled by, the gradient is that of its softmax (Liu et al., 2023, equation 9)."""
    made, x, logits = mixer(0.06)
    weights, chosen = made.train()(x)
    picked = chosen[:, 0] == 1
    weights[picked, 0].mean().backward()
    shares = logits[:3].softmax(0)
    want = torch.zeros(5)
    want[:3] = shares[1] * (torch.eye(3)[1] - shares)
    assert torch.allclose(made.weight.grad[:, 0], want, atol=1e-6)


def test_sparse_mixing_is_the_published_one() -> None:
    """The first draw takes the same random numbers in the same order; outside training there are none."""
    published = pytest.importorskip("transformers.models.phimoe.modeling_phimoe").sparsemixer
    made, _, _ = mixer(0.1)
    x = torch.randn(400, WIDTH)
    with torch.no_grad():
        made.weight.normal_()
    torch.manual_seed(1)
    weights, chosen = made.train()(x)
    torch.manual_seed(1)
    theirs, theirs_chosen = published(made.logits, 0.1, True)
    assert (chosen[:, 0] == theirs_chosen[:, 0]).all()
    assert torch.allclose(weights[:, 0], theirs[:, 0], atol=1e-4)  # they write a third as 0.3333
    weights, chosen = made.eval()(x)
    theirs, theirs_chosen = published(made.logits, 0.1, False)
    assert (chosen == theirs_chosen).all() and torch.allclose(weights, theirs)
