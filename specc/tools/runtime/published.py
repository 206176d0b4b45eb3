"""The generation settings that a checkpoint was published with: generation_config.json's, else those in config.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import fail
from specc.tools.runtime.beam import Beams
from specc.tools.runtime.rules import Rules
from specc.tools.runtime.settings import read

# settings that change what is written and that are not known here, with the values at which they do not
UNKNOWN: dict[str, tuple[Any, ...]] = {
    "assistant_early_exit": (None,),
    "constraints": (None,),
    "diversity_penalty": (None, 0.0),
    "encoder_no_repeat_ngram_size": (None, 0),
    "encoder_repetition_penalty": (None, 1.0),
    "exponential_decay_length_penalty": (None,),
    "force_words_ids": (None,),
    "guidance_scale": (None, 1.0),
    "num_beam_groups": (None, 1),
    "penalty_alpha": (None, 0.0),
    "sequence_bias": (None,),
    "watermarking_config": (None,),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a published generation starts from, keeps to and ends with. longest: tokens of a row, the start included."""

    start: tuple[int, ...] = ()
    longest: int | None = None
    beams: Beams = Beams()
    rules: Rules = field(default_factory=Rules)
    draws: bool = False


def settings(folder: Path, vocab: int | None) -> Settings:
    """Raises SpecError for a setting that changes what is written and is not known here, and for a token outside the vocabulary."""
    values = _Values(read(folder, "generation_config.json") or read(folder, "config.json"), vocab)
    for name, neutral in UNKNOWN.items():
        if values.given.get(name) not in neutral:
            raise fail("SYS022", f"the published generation uses `{name}`, which `specc run` does not know", None, "take it out of generation_config.json to go on without")
    ends = values.tokens("eos_token_id")
    start = values.tokens("decoder_start_token_id") or values.tokens("bos_token_id")
    longest = values.number("max_length", int, None)
    if (new := values.number("max_new_tokens", int, None)) is not None:
        longest = new + len(start)
    early = values.given.get("early_stopping")
    beams = Beams(
        values.number("num_beams", int, 1), values.number("length_penalty", float, 1.0), early if early in (True, "never") else False
    )
    rules = Rules(
        ends=ends,
        repetition_penalty=values.number("repetition_penalty", float, 1.0),
        no_repeat_ngram=values.number("no_repeat_ngram_size", int, 0),
        bad_words=tuple(word for word in values.runs("bad_words_ids") if word not in [(end,) for end in ends]),
        min_length=values.number("min_length", int, 0),
        min_new=values.number("min_new_tokens", int, 0),
        forced_bos=next(iter(values.tokens("forced_bos_token_id")), None),
        forced_eos=values.tokens("forced_eos_token_id"),
        suppressed=values.tokens("suppress_tokens"),
        begin_suppressed=values.tokens("begin_suppress_tokens"),
        renormalize=values.given.get("renormalize_logits") is True,
    )
    return Settings(start, longest, beams, rules, values.given.get("do_sample") is True)


@dataclass(frozen=True, slots=True)
class _Values:
    """A file's object, read with care: it comes from elsewhere."""

    given: dict[str, Any]
    vocab: int | None

    def number(self, name: str, kind: type, default: Any) -> Any:
        found = self.given.get(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, (int, kind)) or not 0 <= abs(found) < 1e9 or (kind is int and found < 0):
            raise fail("SYS022", f"`{name}` in the published generation settings is {found!r:.60}, which is no such number")
        return kind(found)

    def tokens(self, name: str) -> tuple[int, ...]:
        found = self.given.get(name)
        return self._checked(name, found if isinstance(found, list) else [] if found is None else [found])

    def runs(self, name: str) -> tuple[tuple[int, ...], ...]:
        found = self.given.get(name) or []
        if not isinstance(found, list) or not all(isinstance(run, list) and run for run in found):
            raise fail("SYS022", f"`{name}` in the published generation settings is no list of runs of tokens")
        return tuple(self._checked(name, run) for run in found)

    def _checked(self, name: str, tokens: list[Any]) -> tuple[int, ...]:
        for token in tokens:
            if type(token) is not int or token < 0 or (self.vocab is not None and token >= self.vocab):
                raise fail("SYS022", f"`{name}` in the published generation settings holds {token!r:.60}, which is no token of this model")
        return tuple(tokens)
