"""The distributions that tokens are drawn from, against their definitions, and the draws against the distributions."""

from __future__ import annotations

import numpy as np
import pytest

from specc.diagnostics.finding import SpecError
from specc.tools.runtime.sampling import Sampling, pick, probabilities

LOGITS = np.random.default_rng(11).normal(0, 2, 40).astype(np.float32)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64))
    return powers / powers.sum()


def only(chances: np.ndarray, kept: set[int]) -> np.ndarray:
    found = np.array([chance if token in kept else 0 for token, chance in enumerate(chances)])
    return found / found.sum()


def likeliest_first(chances: np.ndarray) -> list[int]:
    return sorted(range(len(chances)), key=lambda token: (-chances[token], token))


def nucleus(chances: np.ndarray, p: float) -> set[int]:
    """The smallest set of likeliest tokens that together reach p."""
    kept: set[int] = set()
    for token in likeliest_first(chances):
        if sum(chances[list(kept)]) >= p:
            break
        kept.add(token)
    return kept


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_temperature(temperature: float):
    assert np.allclose(probabilities(LOGITS, Sampling(temperature)), softmax(LOGITS / temperature), rtol=1e-6, atol=0)


@pytest.mark.parametrize("k", [1, 2, 5, 39, 40, 1000])
def test_top_k(k: int):
    expected = only(softmax(LOGITS), set(likeliest_first(softmax(LOGITS))[:k]))
    assert np.allclose(probabilities(LOGITS, Sampling(1.0, top_k=k)), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("p", [1e-6, 0.2, 0.5, 0.9, 0.999, 1.0])
def test_top_p(p: float):
    expected = only(softmax(LOGITS), nucleus(softmax(LOGITS), p))
    assert np.allclose(probabilities(LOGITS, Sampling(1.0, top_p=p)), expected, rtol=1e-9, atol=0)


def test_top_k_comes_before_top_p():
    first = only(softmax(LOGITS / 1.5), set(likeliest_first(softmax(LOGITS))[:6]))
    expected = only(first, nucleus(first, 0.7))
    found = probabilities(LOGITS, Sampling(1.5, top_k=6, top_p=0.7))
    assert np.allclose(found, expected, rtol=1e-6, atol=0)


def test_a_nucleus_that_ends_exactly():
    """Two equal halves: one of them already reaches a half, and of equals the lower id comes first."""
    assert probabilities(np.array([0.0, 0.0], np.float32), Sampling(1.0, top_p=0.5)).tolist() == [1.0, 0.0]


def test_greedy_takes_the_first_of_equals():
    logits = np.array([0, 3, 3, 1], np.float32)
    assert pick(logits, Sampling(), np.random.default_rng(0)) == 1
    assert probabilities(logits, Sampling()).tolist() == [0, 1, 0, 0]


def test_very_large_and_minus_infinite_logits():
    found = probabilities(np.array([3e38, -np.inf, 3e38], np.float32), Sampling(0.01))
    assert found.tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("sampling", [Sampling(1.0), Sampling(0.8, top_k=7), Sampling(1.3, top_p=0.8), Sampling(1.0, top_k=9, top_p=0.6)])
def test_draws_follow_the_distribution(sampling: Sampling):
    """Under one fixed generator; five standard deviations of each count, and nothing outside the distribution."""
    draws, generator = 20_000, np.random.default_rng(42)
    counts = np.bincount([pick(LOGITS, sampling, generator) for _ in range(draws)], minlength=len(LOGITS))
    chances = probabilities(LOGITS, sampling)
    assert (counts[chances == 0] == 0).all()
    assert (np.abs(counts - draws * chances) <= 5 * np.sqrt(draws * chances * (1 - chances)) + 1e-9).all()


@pytest.mark.parametrize(
    "field", [{"temperature": -1.0}, {"temperature": float("nan")}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"seed": -1}]
)
def test_what_is_refused(field: dict):
    with pytest.raises(SpecError, match="SYS022"):
        Sampling(**field)
