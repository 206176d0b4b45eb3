"""Objectives: each loss is its formula and the published one, each way to make inputs a distribution, and each teaches a model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from specc.backends.torch.emit import emit
from specc.diagnostics.finding import SpecError
from specc.ir.fingerprint import fingerprint
from tests.components.probe import spec
from tests.harness import _torch_module, draw, inputs_of, model_of, run_onnx
from tests.training.models import BOTH, MLM
from tests.training.models import OBJECTIVES as SPECS

torch = pytest.importorskip("torch")
VOCAB = 24


def made(name: str, **more: object):
    """The generated module, and a model of it with drawn weights."""
    torch.set_num_threads(1)
    model = model_of(spec(**SPECS[name] | more))
    module = _torch_module(model)
    network = module.Model()
    network.load_state_dict({key: torch.tensor(value) for key, value in draw(model).items()})
    return module, network.eval()


def labels_for(name: str, rng: np.random.Generator):
    """Labels of the right shape, some of them left out."""
    if name == "next_sentence":
        return torch.tensor([1, 0])
    if name == "classification":
        return torch.tensor([2, 0])
    classes = 5 if name == "classification of tokens" else VOCAB
    labels = torch.tensor(rng.integers(0, classes, (2, 12)))
    labels[0, 3:6] = labels[1, -1] = -100
    return labels


def by_hand(name: str, logits: np.ndarray, labels: np.ndarray, smoothing: float = 0.0) -> float:
    """-mean log p(label); for the next token the logits stand one to the left of it."""
    if name == "causal_lm":
        logits, labels = logits[:, :-1], labels[:, 1:]
    losses = []
    for place in np.ndindex(labels.shape):
        if labels[place] == -100:
            continue
        scores = logits[place].astype(np.float64)
        logs = scores - np.log(np.exp(scores).sum())
        losses.append(-(1 - smoothing) * logs[labels[place]] - smoothing * logs.mean())
    return float(np.mean(losses))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("name", SPECS)
def test_the_loss_is_its_formula(name: str, smoothing: float) -> None:
    objective = SPECS[name]["objective"]
    if smoothing:
        objective = f"{objective[:-1]}, label_smoothing: 0.1)" if objective.endswith(")") else f"{objective}(label_smoothing: 0.1)"
    _, network = made(name, objective=objective)
    rng = np.random.default_rng(4)
    labels = labels_for(name, rng)
    with torch.no_grad():
        out = network(input_ids=torch.tensor(rng.integers(0, VOCAB, (2, 12))), labels=labels)
    assert out.loss.item() == pytest.approx(by_hand(name, out.logits.numpy(), labels.numpy(), smoothing), rel=1e-5)


@pytest.mark.parametrize(("name", "kind"), [
    ("causal_lm", "ForCausalLM"), ("masked_lm", "ForMaskedLM"), ("classification", "ForSequenceClassification"),
    ("classification of tokens", "ForTokenClassification"),
])  # fmt: skip
def test_the_loss_is_the_published_one(name: str, kind: str) -> None:
    published = pytest.importorskip("transformers.loss.loss_utils").LOSS_MAPPING[kind]
    config = pytest.importorskip("transformers").PreTrainedConfig(num_labels=3 if name == "classification" else 5)
    config.problem_type = "single_label_classification"
    _, network = made(name)
    rng = np.random.default_rng(4)
    labels = labels_for(name, rng)
    with torch.no_grad():
        out = network(input_ids=torch.tensor(rng.integers(0, VOCAB, (2, 12))), labels=labels)
    if "Classification" in kind:
        want = published(labels, out.logits, config) if "Sequence" in kind else published(out.logits, labels, config)
    else:
        want = published(out.logits, labels, VOCAB)
    assert out.loss.item() == pytest.approx(want.item(), rel=1e-5)


def test_the_next_sentence_loss_is_the_published_one() -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    config = transformers.BertConfig(vocab_size=VOCAB, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = transformers.BertForNextSentencePrediction(config).eval()
    ids, labels = torch.randint(0, VOCAB, (6, 9)), torch.tensor([0, 1, 1, 0, 1, 0])
    with torch.no_grad():
        out = theirs(input_ids=ids, labels=labels)
    module, _ = made("next_sentence")
    assert module.next_sentence_loss(out.logits, labels).item() == pytest.approx(out.loss.item(), rel=1e-6)


def test_the_routers_losses_are_part_of_it() -> None:
    ffn = "moe(experts: 4, top_k: 2, expert: mlp(hidden: 6, activation: relu), router: softmax(load_balance: 0.5))"
    _, network = made("causal_lm", ffn=ffn)
    rng = np.random.default_rng(4)
    ids = torch.tensor(rng.integers(0, VOCAB, (2, 12)))
    out = network(input_ids=ids, labels=ids)
    assert out.aux_loss.item() > 0.1
    assert out.loss.item() == pytest.approx(by_hand("causal_lm", out.logits.detach().numpy(), ids.numpy()) + out.aux_loss.item(), rel=1e-5)


def test_two_objectives_of_two_heads() -> None:
    """BERT's pre-training: the sum of both losses, or the one whose labels are given."""
    fields = {"head": f"[{MLM}, sentence_order]", "objective": "[masked_lm(mask_token: 23), next_sentence(first_token: 1, separator: 2)]"}
    module, network = made("masked_lm", **fields)
    rng = np.random.default_rng(4)
    ids, labels, order = torch.tensor(rng.integers(0, VOCAB, (2, 12))), labels_for("masked_lm", rng), torch.tensor([1, 0])
    with torch.no_grad():
        out = network(input_ids=ids, labels=labels, next_sentence_label=order)
        alone = network(input_ids=ids, next_sentence_label=order)
    words = by_hand("masked_lm", out.logits.numpy(), labels.numpy())
    sentences = by_hand("next_sentence", out.seq_relationship_logits.numpy(), order.numpy())
    assert out.loss.item() == pytest.approx(words + sentences, rel=1e-5) and alone.loss.item() == pytest.approx(sentences, rel=1e-5)
    assert network(input_ids=ids).loss is None
    assert callable(module.corrupt) and callable(module.pair_sentences)


def test_without_labels_there_is_no_loss() -> None:
    _, network = made("causal_lm")
    assert network(input_ids=torch.tensor([[1, 2, 3]])).loss is None


# ---- inputs


def test_masking() -> None:
    """15 % of the tokens; of these 80 % masked, 10 % any token, 10 % as they were; never a special one."""
    module, _ = made("masked_lm", objective="masked_lm(mask_token: 23, special: [0, 5])")
    ids = torch.arange(VOCAB - 1).repeat(400, 50)  # [400, 1150]; the mask token does not occur
    inputs, labels = module.corrupt(ids, torch.Generator().manual_seed(3))
    chosen = labels != -100
    assert (labels[chosen] == ids[chosen]).all() and (inputs[~chosen] == ids[~chosen]).all()
    special = (ids == 0) | (ids == 5)
    assert not chosen[special].any()
    assert abs(chosen[~special].float().mean().item() - 0.15) < 0.003
    masked, kept = inputs[chosen] == 23, inputs[chosen] == ids[chosen]
    # any token may be the mask token or the old one: one case in 24 each
    assert abs(masked.float().mean().item() - (0.8 + 0.1 / VOCAB)) < 0.006
    assert abs(kept.float().mean().item() - (0.1 + 0.1 / VOCAB)) < 0.005
    counts = torch.bincount(inputs[chosen][~masked & ~kept], minlength=VOCAB).float()
    assert counts[23] == 0 and (counts[:23] / counts.sum() - 1 / 23).abs().max() < 0.01
    # rows and columns are drawn on their own
    assert (chosen.float().mean(0)[~special[0]] - 0.15).abs().max() < 0.09 and (chosen.float().mean(1) - 0.15 * 21 / 23).abs().max() < 0.05


def test_the_same_generator_masks_the_same() -> None:
    module, _ = made("masked_lm")
    ids = torch.arange(VOCAB).repeat(3, 2)
    first, second = (module.corrupt(ids, torch.Generator().manual_seed(8)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("rate", "mask_share", "random_share"), [(0.4, 1.0, 0.0), (0.3, 0.0, 1.0)])
def test_other_shares(rate: float, mask_share: float, random_share: float) -> None:
    module, _ = made("masked_lm", objective=f"masked_lm(mask_token: 23, rate: {rate}, mask_share: {mask_share}, random_share: {random_share})")
    ids = torch.full((300, 300), 7)
    inputs, labels = module.corrupt(ids, torch.Generator().manual_seed(3))
    chosen = labels != -100
    assert abs(chosen.float().mean().item() - rate) < 0.006
    assert abs((inputs[chosen] == 23).float().mean().item() - (mask_share + random_share / VOCAB)) < 0.006
    assert abs((inputs[chosen] == 7).float().mean().item() - (1 - mask_share - random_share + random_share / VOCAB)) < 0.006


def test_pairs_of_sentences() -> None:
    """Half of them follow one another; the others are those of any other row, alike often, and never of the row itself."""
    module, _ = made("next_sentence")
    first, second = torch.full((10, 3), 4), torch.arange(10)[:, None].repeat(1, 2) + 10
    generator, rows = torch.Generator().manual_seed(2), torch.arange(10)
    counts, replaced = torch.zeros(10, 10), []
    for _ in range(400):
        ids, types, labels = module.pair_sentences(first, second, generator)
        assert ids.shape == types.shape == (10, 8)
        assert ids[0].tolist() == [1, 4, 4, 4, 2, *[int(ids[0, 5])] * 2, 2] and types[0].tolist() == [0] * 5 + [1] * 3
        source = ids[:, 5] - 10
        assert ((source != rows) == (labels == 1)).all()
        counts[rows, source] += labels
        replaced.append(labels.float().mean())
    assert abs(torch.stack(replaced).mean().item() - 0.5) < 0.02
    others, each = counts[~torch.eye(10, dtype=torch.bool)], counts.sum() / 90
    assert 40 < ((others - each) ** 2 / each).sum() < 150  # chi square of 89 degrees of freedom


# ---- learning


def batch(name: str, module):
    """Texts that can be learnt: each token follows from the one before; what the labels are follows from the text."""
    start = torch.arange(8)[:, None]
    ids = (start + 3 * torch.arange(12)) % 20 + 3
    if name == "causal_lm":
        return {"input_ids": ids, "labels": ids}
    if name == "masked_lm":
        inputs, labels = module.corrupt(ids, torch.Generator().manual_seed(1))
        return {"input_ids": inputs, "labels": labels}
    if name == "next_sentence":
        ids, types, labels = module.pair_sentences(ids[:, :5], ids[:, 5:9], torch.Generator().manual_seed(1))
        return {"input_ids": ids, "labels": labels} | ({"token_type_ids": types} if "segments" in SPECS[name].get("embed", "") else {})
    return {"input_ids": ids, "labels": ids[:, 0] % 3 if name == "classification" else ids % 5}


@pytest.mark.parametrize("name", SPECS)
def test_a_few_steps_reduce_the_loss(name: str) -> None:
    module = _torch_module(model_of(spec(**SPECS[name], init="normal(0.1)", dropout=0.05, attention_dropout=0.05)))
    torch.manual_seed(0)
    network, given = module.Model().train(), None
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        given = given or batch(name, module)
        optimizer.zero_grad()
        loss = network(**given).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all(p.grad is not None for p in network.parameters())
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:3])


# ---- neutral where it is absent, and without effect on inference


@pytest.mark.parametrize("name", SPECS)
def test_inference_does_not_change(name: str) -> None:
    plain = model_of(spec(**SPECS[name] | {"objective": None}))
    trained = model_of(spec(**SPECS[name], init="normal(0.5)", dropout=0.3, attention_dropout=0.2))
    assert fingerprint(plain) == fingerprint(trained)
    weights, inputs = draw(plain), inputs_of(plain)
    assert np.array_equal(run_onnx(plain, weights, inputs)["logits"], run_onnx(trained, weights, inputs)["logits"])
    text = emit(plain)
    assert not any(word in text for word in ("labels", "loss", "corrupt", "initialise", "generator"))


@pytest.mark.parametrize(("text", "words"), [
    (spec(objective="causal_lm", head="lm(tied: true)", mask="bidirectional"), "lets it be seen"),
    (spec(objective="causal_lm"), "a loss of logits, and the head gives none"),
    (spec(objective="causal_lm", head="classify_tokens(3)"), "no logits over the vocabulary"),
    (spec(objective="[classification, classification]", head="classify_tokens(3)"), "twice"),
    (spec(objective="masked_lm(mask_token: 3)", head="lm(tied: true)"), "every mask of this model is causal"),
    (spec(objective="next_sentence(first_token: 1, separator: 2)", head="classify(3, pool: first)"), "two classes"),
    (spec(objective="classification", head="lm(tied: true)"), "logits of classes"),
])  # fmt: skip
def test_an_objective_that_does_not_suit(text: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        model_of(text)
    (found,) = caught.value.diagnostics
    assert found.code == "TRN001" and words in found.message


@pytest.mark.parametrize(("objective", "code"), [
    ("masked_lm(mask_token: 24)", "VAL001"), ("masked_lm(mask_token: 2, special: [99])", "VAL001"), ("masked_lm", "VAL002"),
    ("masked_lm(mask_token: 2, mask_share: 0.8, random_share: 0.3)", "VAL004"), ("masked_lm(mask_token: 2, rate: 0.0)", "VAL001"),
    ("span_masking", "NAM001"),
])  # fmt: skip
def test_a_value_that_cannot_be(objective: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        model_of(spec(objective=objective, head=MLM, **BOTH))
    assert [d.code for d in caught.value.diagnostics] == [code]


# ---- init


def test_weights_are_drawn_as_the_spec_says() -> None:
    """Matrices and tables; norms that hold a matrix stay ones."""
    fields = {"attention": "attention(heads: 4, bias: true, qk_norm: rms(eps: 1e-5), qk_norm_over: each_head)", "head": "lm(tied: false, bias: true)"}
    ffn = "moe(experts: 3, top_k: 2, expert: mlp(hidden: 60, activation: relu), router: softmax(bias: true))"
    model = model_of(spec(**fields, ffn=ffn, dim=64, init="normal(0.3)"))
    torch.manual_seed(0)
    state = _torch_module(model).Model().state_dict()
    for key, parameter in model.parameters().items():
        value = state[key]
        if parameter.init == "normal":
            assert abs(value.std().item() - 0.3) < 0.3 * 4 / value.numel() ** 0.5, key
        else:
            assert (value == (1 if parameter.init == "ones" else 0)).all(), key
