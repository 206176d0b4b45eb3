"""What stands in front of the tokens: positions, masks, cached steps, and encoders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from specc.tools.tolerance import TOLERANCE, distance
from tests.adapter.made import Made, make
from tests.adapter.models import ENCODER, TINY

LEARNED = TINY.replace("position = rope(theta: 10_000)", "embed = tokens() + learned_position()  position = none")
SLIDING = TINY.replace("mask = causal", "mask = sliding(5)")
IDS = torch.tensor([[5, 17, 3, 44, 9, 60, 2, 31], [1, 1, 1, 8, 21, 33, 7, 14]])
MASK = torch.tensor([[1] * 8, [0, 0, 0, 1, 1, 1, 1, 1]])
BODIES = ("prefix(length: 3)", "prompt(length: 2)", "prefix(length: 3) prompt(length: 2)", "prefix(length: 3, reparameterised: 7)")


@pytest.mark.parametrize("model", [TINY, LEARNED, SLIDING], ids=["rope", "learned", "sliding"])
@pytest.mark.parametrize("body", BODIES)
def test_cached_steps_are_the_whole_pass(tmp_path: Path, model: str, body: str):
    """In PyTorch and in ONNX Runtime, whether the mask of a later call tells of what stands ahead or not."""
    made = make(tmp_path, model, body)
    with torch.no_grad():
        whole = made.model(IDS, attention_mask=MASK).logits.numpy()
        first = made.model(IDS[:, :5], attention_mask=MASK[:, :5])
        ahead = first.cache[0][0].shape[2] - 5
        told = torch.cat((MASK.new_ones(2, ahead), MASK), dim=1)
        for mask in (MASK, told):
            rest = made.model(IDS[:, 5:], attention_mask=mask, cache=first.cache).logits.numpy()
            assert distance(np.concatenate([first.logits, rest], axis=1)[real(MASK)], whole[real(MASK)]) <= TOLERANCE["float32"]
    graph = made.onnx()
    assert distance(graph.run(IDS, MASK)["logits"][real(MASK)], whole[real(MASK)]) <= TOLERANCE["float32"]
    begun = graph.run(IDS[:, :5], MASK[:, :5])
    for mask in (MASK, told):
        rest = graph.run(IDS[:, 5:], mask, begun)["logits"]
        assert distance(rest, whole[:, 5:]) <= TOLERANCE["float32"]



def test_in_an_encoder_tokens_keep_their_columns(tmp_path: Path):
    """Five tokens see three keys more, all visible; attention over them is written out here."""
    made = make(tmp_path, ENCODER, "prefix(length: 3)")
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    ids = IDS[:, :5]
    with torch.no_grad():
        got = made.model(ids, attention_mask=mask).last_hidden_state.numpy()
        want = by_hand(made, ids, mask).numpy()
        made.over.enabled = False
        without = made.model(ids, attention_mask=mask).last_hidden_state.numpy()
    assert distance(got[real(mask)], want[real(mask)]) <= TOLERANCE["float32"]
    assert distance(got[real(mask)], without[real(mask)]) > 1e-2
    assert distance(made.onnx().run(ids, mask)["last_hidden_state"][real(mask)], want[real(mask)]) <= TOLERANCE["float32"]


def by_hand(made: Made, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The encoder as in its paper, with the learned keys and values in front."""
    w = {name: tensor.detach() for name, tensor in made.model.state_dict().items()}
    norm = torch.nn.functional.layer_norm

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embed_tokens.weight"][ids] + w["embed_learned_position.weight"][: ids.shape[1]] + w["embed_segments.weight"][0]
    x = norm(x, (32,), w["embed_norm.weight"], w["embed_norm.bias"], 1e-5)
    for n in range(2):
        at = f"layers.{n}"
        q, k, v = (linear(x, f"{at}.attention.{r}").unflatten(-1, (4, 8)).transpose(1, 2) for r in "qkv")
        learned = [torch.from_numpy(made.tensors[f"{at}.attention.prefix.{part}"]) for part in ("key", "value")]
        k, v = (torch.cat((part.expand(len(ids), -1, -1, -1), own), dim=2) for part, own in zip(learned, (k, v), strict=True))
        visible = torch.cat((torch.ones(len(ids), 3), mask), dim=1).bool()
        assert visible[:, None, None].expand(-1, 1, 5, -1)[:1].shape == (1, 1, 5, 8)
        scores = (q @ k.transpose(2, 3) * 8**-0.5).masked_fill(~visible[:, None, None], float("-inf"))
        out = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        x = norm(x + linear(out, f"{at}.attention.o"), (32,), w[f"{at}.attention_norm.weight"], w[f"{at}.attention_norm.bias"], 1e-5)
        inner = torch.nn.functional.gelu(linear(x, f"{at}.ffn.up"))
        x = norm(x + linear(inner, f"{at}.ffn.down"), (32,), w[f"{at}.ffn_norm.weight"], w[f"{at}.ffn_norm.bias"], 1e-5)
    return x


def test_two_adapters_cannot_both_stand_in_front(tmp_path: Path):
    made = make(tmp_path, TINY, "prefix(length: 3)")
    second = type(made.over)(made.model)
    with pytest.raises(ValueError, match="only one of them"):
        made.model(IDS)
    second.enabled = False
    made.model(IDS)


def real(mask: torch.Tensor) -> np.ndarray:
    return mask.bool().numpy()
