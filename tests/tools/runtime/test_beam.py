"""Beam search against transformers' own, over scores that depend on everything before: rows differ, end early, and overtake one another."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from specc.tools.runtime.beam import Beams, search
from specc.tools.runtime.rules import Rules

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

VOCAB, PROMPTS = 23, [[4, 9, 2], [11, 3, 3], [7, 7, 20]]


def scores(row: tuple[int, ...], sharp: float) -> np.ndarray:
    """[V], drawn from the row itself."""
    return np.random.default_rng(list(row)).standard_normal(VOCAB).astype(np.float32) * np.float32(sharp)


class Hashed(transformers.PreTrainedModel, transformers.GenerationMixin):
    """A language model without weights."""

    config_class = transformers.PreTrainedConfig
    sharp = 1.0

    def __init__(self) -> None:
        super().__init__(transformers.PreTrainedConfig(vocab_size=VOCAB, hidden_size=4, num_hidden_layers=1, num_attention_heads=1))
        self.nothing = torch.nn.Parameter(torch.zeros(1))

    def forward(self, input_ids: Any, **_: Any) -> Any:
        found = np.stack([scores(tuple(row), self.sharp) for row in input_ids.tolist()])
        return transformers.modeling_outputs.CausalLMOutput(logits=torch.from_numpy(found)[:, None])


def theirs(prompts: list[list[int]], longest: int, sharp: float, **given: Any) -> list[list[int]]:
    model = Hashed()
    model.sharp = sharp
    config = transformers.GenerationConfig(max_length=longest, do_sample=False, use_cache=False, pad_token_id=VOCAB - 1, **given)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return model.generate(torch.tensor(prompts), generation_config=config).tolist()


def ours(prompts: list[list[int]], longest: int, sharp: float, beams: Beams, rules: Rules) -> list[list[int]]:
    rows = [tuple(prompt) for prompt in prompts for _ in range(beams.count)]

    def step(tokens: np.ndarray, parents: np.ndarray) -> np.ndarray:
        rows[:] = [(*rows[parent], int(token)) for parent, (token,) in zip(parents, tokens, strict=True)]
        return np.stack([scores(row, sharp) for row in rows])

    first = np.stack([scores(tuple(prompt), sharp) for prompt in prompts])
    return search(step, prompts, first, beams, rules, longest)


@pytest.mark.parametrize("sharp", [0.5, 3.0])
@pytest.mark.parametrize("early", [False, True, "never"])
@pytest.mark.parametrize("penalty", [1.0, 0.0, 2.5, -0.7])
@pytest.mark.parametrize("ends", [(5,), (5, 6, 8)])
def test_it_finds_what_transformers_finds(sharp: float, early: bool | str, penalty: float, ends: tuple[int, ...]) -> None:
    for count, longest in ((2, 9), (4, 14)):
        want = theirs(PROMPTS, longest, sharp, num_beams=count, early_stopping=early, length_penalty=penalty, eos_token_id=list(ends))
        got = ours(PROMPTS, longest, sharp, Beams(count, penalty, early), Rules(ends=ends))
        width = max(map(len, got))
        assert [row + [VOCAB - 1] * (width - len(row)) for row in got] == want
        for alone, together in zip(PROMPTS, got, strict=True):
            assert ours([alone], longest, sharp, Beams(count, penalty, early), Rules(ends=ends)) == [together]


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({"no_repeat_ngram_size": 1}, Rules(no_repeat_ngram=1)),
        ({"no_repeat_ngram_size": 2, "repetition_penalty": 1.8}, Rules(no_repeat_ngram=2, repetition_penalty=1.8)),
        ({"min_length": 9}, Rules(min_length=9)),
        ({"min_new_tokens": 9}, Rules(min_new=9)),
        ({"bad_words_ids": [[1], [12, 13], [3, 3, 7]]}, Rules(bad_words=((1,), (12, 13), (3, 3, 7)))),
        ({"suppress_tokens": [2, 10], "begin_suppress_tokens": [4, 17, 21]}, Rules(suppressed=(2, 10), begin_suppressed=(4, 17, 21))),
        ({"forced_eos_token_id": 5, "renormalize_logits": True}, Rules(forced_eos=(5,), renormalize=True)),
    ],
)
def test_rules(given: dict[str, Any], rules: Rules) -> None:
    from dataclasses import replace

    ended, felt = replace(rules, ends=(5, 6)), False
    for sharp in (0.7, 2.0, 5.0):
        want = theirs(PROMPTS, 13, sharp, num_beams=3, eos_token_id=[5, 6], **given)
        got = ours(PROMPTS, 13, sharp, Beams(3), ended)
        assert [row + [VOCAB - 1] * (len(want[0]) - len(row)) for row in got] == want
        felt |= ours(PROMPTS, 13, sharp, Beams(3), Rules(ends=(5, 6))) != got
    assert felt
