"""Objectives of an encoder and a decoder: shifted labels, span corruption and denoising, each way to make inputs a distribution."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from specc.diagnostics.finding import SpecError
from tests.components.probe import spec
from tests.harness import _torch_module, draw, model_of
from tests.training.models import OF_TWO, two

torch = pytest.importorskip("torch")


def module_of(objective: str):
    torch.set_num_threads(1)
    return _torch_module(model_of(two(objective)))


def network_of(objective: str):
    model = model_of(two(objective))
    made = module_of(objective).Model()
    made.load_state_dict({key: torch.tensor(value) for key, value in draw(model).items()})
    return made.eval()


# ---- the loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_published_one(smoothing: float) -> None:
    """BART's: cross entropy of labels that are not shifted, of a decoder that reads them shifted by one."""
    shift = pytest.importorskip("transformers.models.bart.modeling_bart").shift_tokens_right
    made = network_of(f"seq2seq_lm(start: 2, pad: 1{f', label_smoothing: {smoothing}' if smoothing else ''})")
    torch.manual_seed(1)
    ids, labels = torch.randint(5, 40, (3, 9)), torch.randint(5, 40, (3, 7))
    labels[1, 4:] = -100
    with torch.no_grad():
        given = made(input_ids=ids, labels=labels)
        said = made(input_ids=ids, decoder_input_ids=shift(labels, 1, 2), labels=labels)
    assert torch.equal(given.logits, said.logits)
    logs, real = given.logits.double().log_softmax(-1), labels != -100
    picked = logs.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    want = -((1 - smoothing) * picked + smoothing * logs.mean(-1))[real].mean()
    assert given.loss.item() == pytest.approx(want.item(), rel=1e-5)


def test_without_labels_there_is_no_loss() -> None:
    made = network_of(OF_TWO["seq2seq_lm"])
    assert made(input_ids=torch.tensor([[5, 6]]), decoder_input_ids=torch.tensor([[2]])).loss is None


# ---- span corruption


def rebuilt(inputs: list[int], labels: list[int], first: int = 39) -> list[int]:
    """The text, from what is left of it and what was taken out."""
    spans: dict[int, list[int]] = {}
    for token in labels:
        if 30 <= token <= first:
            current = spans.setdefault(token, [])
        else:
            current.append(token)
    return [t for token in inputs for t in (spans[token] if token in spans else [token])]


@pytest.mark.parametrize(("tokens", "more"), [(40, ""), (12, ""), (2, ""), (5, ", rate: 0.9"), (40, ", mean_span: 1"), (25, ", rate: 0.5, mean_span: 2.5")])
def test_spans_are_taken_out(tokens: int, more: str) -> None:
    """`rate` of the tokens, in spans that are `mean_span` long on average, sentinels counting down; nothing is lost."""
    module = module_of(f"span_corruption(start: 0, pad: 0, sentinel: 39, end: 1{more})")
    ids = torch.arange(tokens).repeat(50, 1) % 27 + 2
    inputs, labels = module.corrupt(ids, torch.Generator().manual_seed(3))
    rate = float(more.partition("rate: ")[2].partition(",")[0] or 0.15)
    mean = float(more.partition("mean_span: ")[2] or 3)
    noise = min(max(round(rate * tokens), 1), tokens - 1)
    spans = min(max(round(noise / mean), 1), tokens - noise)
    assert inputs.shape == (50, tokens - noise + spans + 1) and labels.shape == (50, noise + spans + 1)
    assert (inputs[:, -1] == 1).all() and (labels[:, -1] == 1).all()
    for row, left, taken in zip(ids.tolist(), inputs.tolist(), labels.tolist(), strict=True):
        assert [t for t in left if t >= 30] == [t for t in taken if t >= 30] == [39 - n for n in range(spans)]
        assert taken[0] == 39 and left[0] == row[0] and left[-2] < 0 or left[-2] >= 30
        assert rebuilt(left[:-1], taken[:-1]) == row


def test_every_division_into_spans_is_as_likely() -> None:
    """9 tokens in 3 spans, 31 kept ones in 3: of each division C(n - k - 1, 1) have k as their first length, of C(n - 1, 2)."""
    module = module_of("span_corruption(start: 0, pad: 0, sentinel: 39, rate: 0.225)")
    rows = 8000
    inputs, labels = module.corrupt(torch.full((rows, 40), 5), torch.Generator().manual_seed(4))
    for texts, total, mark in ((labels, 9, (labels == 38)), (inputs, 31, (inputs == 39))):
        first = mark.int().argmax(dim=1) - (1 if texts is labels else 0)  # the labels begin with a sentinel
        for length in range(1, total - 1):
            want = (total - length - 1) / math.comb(total - 1, 2)
            got = (first == length).float().mean().item()
            assert abs(got - want) < 4 * math.sqrt(want / rows) + 1e-3, (total, length)


def test_the_same_generator_takes_the_same() -> None:
    module, ids = module_of(OF_TWO["span_corruption"]), torch.arange(60).repeat(4, 1) % 27 + 2
    one, same, other = (module.corrupt(ids, torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)


# ---- denoising


def test_spans_become_one_mask_each() -> None:
    """30 % of the tokens in spans of lengths from Poisson(3); what stays, stays in order; the ends take no part."""
    module = module_of("denoising(start: 0, pad: 0, mask_token: 3)")
    ids = torch.arange(4000)[None] + 100
    lengths: Counter[int] = Counter()
    masks = 0
    for seed in range(5):
        inputs, real, labels = module.corrupt(ids, torch.Generator().manual_seed(seed))
        assert torch.equal(labels, ids) and (real == 1).all()
        text = inputs[0].tolist()
        kept = [t for t in text if t != 3]
        assert kept == sorted(kept) and (text[0], text[-1]) == (100, 4099)
        assert len(kept) == 4000 - math.ceil(0.3 * 3998)
        masks += len(text) - len(kept)
        for left, here, right in zip(text, text[1:], text[2:], strict=False):
            if here == 3 and left != 3 and right != 3:  # alone, so that its length shows
                lengths[right - left - 1] += 1
    assert abs(masks / (5 * 0.3 * 3998) - 1 / 3) < 0.02
    for length in range(9):
        want = math.exp(-3) * 3**length / math.factorial(length)
        assert abs(lengths[length] / lengths.total() - want) < 0.03, length


def test_masks_stand_anywhere() -> None:
    module = module_of("denoising(start: 0, pad: 0, mask_token: 3)")
    places = torch.zeros(3)
    for seed in range(300):
        inputs, _, _ = module.corrupt(torch.arange(62)[None] + 100, torch.Generator().manual_seed(seed))
        at = (inputs[0, 1:-1] == 3).nonzero().flatten().double() / (inputs.shape[1] - 2)
        places += torch.histc(at.float(), bins=3, min=0, max=1)
    assert ((places / places.sum() - 1 / 3).abs() < 0.03).all()


def test_sentences_come_in_any_order() -> None:
    """Three sentences, each ended by token 4: six orders, one as likely as the other."""
    module = module_of("denoising(start: 2, pad: 1, mask_token: 3, sentence_end: 4)")
    text, orders = torch.tensor([10, 4, 11, 12, 4, 13, 4]), Counter()
    generator = torch.Generator().manual_seed(1)
    for _ in range(3000):
        moved = module.permute(text, generator).tolist()
        orders[tuple(t for t in moved if t in (10, 11, 13))] += 1
        assert sorted(moved) == sorted(text.tolist()) and moved[-1] == 4
        assert moved[moved.index(11) + 1] == 12
    assert len(orders) == 6 and all(abs(count / 3000 - 1 / 6) < 0.03 for count in orders.values())


@pytest.mark.parametrize("row", [[2, 5, 6, 7, 4, 8, 9, 2, 1, 1], [2, 2, 1, 1, 1, 1, 1, 1, 1, 1], [2, 7, 2, 1, 1, 1, 1, 1, 1, 1]])
def test_padded_and_short_texts(row: list[int]) -> None:
    module = module_of(OF_TWO["denoising"])
    ids = torch.tensor([row, list(range(10, 20))])
    inputs, real, labels = module.corrupt(ids, torch.Generator().manual_seed(1))
    assert inputs.shape == real.shape and labels.shape == ids.shape
    assert labels[0].tolist() == [-100 if t == 1 else t for t in row] and labels[1].tolist() == ids[1].tolist()
    first = inputs[0][real[0] == 1].tolist()
    assert first[0] == first[-1] == 2 and (inputs[0][real[0] == 0] == 1).all()


# ---- learning, and what does not suit


@pytest.mark.parametrize("name", OF_TWO)
def test_a_few_steps_reduce_the_loss(name: str) -> None:
    module = module_of(OF_TWO[name])
    ids = (torch.arange(8)[:, None] + 3 * torch.arange(14)) % 20 + 5
    given = {"input_ids": ids, "labels": ids.flip(1)}
    if name != "seq2seq_lm":
        parts = module.corrupt(ids, torch.Generator().manual_seed(1))
        given = dict(zip(("input_ids", "attention_mask", "labels") if len(parts) == 3 else ("input_ids", "labels"), parts, strict=True))
    torch.manual_seed(0)
    network = module.Model().train()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for _ in range(80):
        optimizer.zero_grad()
        loss = network(**given).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) / 5 < 0.6 * losses[0]


@pytest.mark.parametrize(("text", "words"), [
    (two("causal_lm"), "trains one stack"),
    (spec(objective="seq2seq_lm(start: 0, pad: 0)", head="lm(tied: true)"), "trains an encoder and a decoder"),
    (two("denoising(start: 0, pad: 0, mask_token: 99)"), "the vocabulary holds 40 tokens"),
])  # fmt: skip
def test_what_does_not_suit(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        model_of(text)
