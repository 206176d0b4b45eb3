"""What encoder-decoders write against transformers' `generate`, token for token: greedy and beams, under every published rule."""

from __future__ import annotations

import atexit
import itertools
import json
import tempfile
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specc.diagnostics.finding import SpecError
from specc.faces.cli import main
from specc.tools.runtime.beam import Beams
from specc.tools.runtime.published import settings
from specc.tools.runtime.translate import open_both, translate
from tests.reference.published import write

pytest.importorskip("onnxruntime")
transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

VOCAB = 60
SIZES = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "vocab_size": VOCAB, "max_position_embeddings": 64}
KINDS: dict[str, dict[str, Any]] = {
    "bart": SIZES | {"decoder_start_token_id": 2, "eos_token_id": 2, "bos_token_id": 0, "pad_token_id": 1, "forced_eos_token_id": 2},
    "marian": SIZES | {"scale_embedding": True, "decoder_start_token_id": 59, "eos_token_id": 0, "pad_token_id": 59, "bad_words_ids": [[59]], "forced_eos_token_id": 0},
    "t5": {"d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 48, "vocab_size": VOCAB, "decoder_start_token_id": 0, "pad_token_id": 0},
}
SOURCES = [[7, 12, 31, 44, 9, 3, 21, 2], [50, 6, 2], [33, 33, 8, 17, 29, 2]]
RULES: dict[str, dict[str, Any]] = {
    "greedy": {},
    "greedy, rules": {"no_repeat_ngram_size": 2, "repetition_penalty": 1.3, "min_length": 6, "forced_bos_token_id": 5, "max_length": 14},
    "beams": {"num_beams": 4, "max_length": 16},
    "beams, short rows": {"num_beams": 4, "length_penalty": 0.4, "early_stopping": True, "max_length": 16},
    "beams, long rows": {"num_beams": 3, "length_penalty": 2.0, "early_stopping": "never", "max_length": 18},
    "beams, no penalty": {"num_beams": 5, "length_penalty": 0.0, "early_stopping": "never", "max_length": 12},
    "beams, a negative penalty": {"num_beams": 3, "length_penalty": -1.0, "max_length": 12},
    "beams, rules": {"num_beams": 4, "no_repeat_ngram_size": 3, "min_length": 5, "max_length": 20, "forced_bos_token_id": 9, "length_penalty": 0.8},
    "beams, words": {"num_beams": 3, "bad_words_ids": [[11], [40, 7], [13, 5, 21]], "suppress_tokens": [14, 15], "begin_suppress_tokens": [20, 21], "max_length": 15},
    "beams, two ends": {"num_beams": 3, "eos_token_id": [2, 30], "max_length": 15, "renormalize_logits": True},
    "beams, new": {"num_beams": 2, "min_new_tokens": 4, "max_new_tokens": 9},
}  # fmt: skip


_FOLDER = tempfile.TemporaryDirectory(prefix="specc-translate-")
atexit.register(_FOLDER.cleanup)


@cache
def built(kind: str) -> tuple[Any, Path]:
    """The reference and a folder with its graphs, its numbers far enough apart that rounding decides nothing."""
    work = Path(_FOLDER.name) / kind
    work.mkdir()
    folder = write(work / "checkpoint", transformers.AutoConfig.for_model(kind, **KINDS[kind]), "AutoModelForSeq2SeqLM", seed=4, spread=0.3)
    assert main(["import", str(folder), "-o", str(work / "m.specc")]) == 0
    assert main(["build", str(work / "m.specc"), "--to", "onnx", "-o", str(work / "graphs"), "--weights", str(folder)]) == 0
    return transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).float().eval(), work / "graphs"


def theirs(model: Any, rules: dict[str, Any], ends: set[int]) -> list[list[int]]:
    """What `generate` gives, cut behind the end of each row, the start left out."""
    width = max(map(len, SOURCES))
    ids, mask = np.full((len(SOURCES), width), 1), np.zeros((len(SOURCES), width), np.int64)
    for n, source in enumerate(SOURCES):
        ids[n, : len(source)], mask[n, : len(source)] = source, 1
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        found = model.generate(torch.tensor(ids), attention_mask=torch.tensor(mask), do_sample=False, **{"max_length": 20} | rules)
    return [_cut(row.tolist()[1:], ends) for row in found]


def _cut(row: list[int], ends: set[int]) -> list[int]:
    return [*itertools.takewhile(lambda token: token not in ends, row), *[token for token in row if token in ends][:1]]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_writes_what_transformers_writes(kind: str, rules: str, tmp_path: Path) -> None:
    model, graphs = built(kind)
    published = model.generation_config.to_dict() | {"max_length": 20} | RULES[rules]
    if "max_new_tokens" in RULES[rules]:
        published.pop("max_length")
    (tmp_path / "generation_config.json").write_text(json.dumps({n: v for n, v in published.items() if v is not None}))
    found = settings(tmp_path, VOCAB)
    rows = translate(open_both(graphs, "cpu"), SOURCES, found, found.longest)
    ends = set(found.rules.ends)
    wanted = theirs(model, RULES[rules], ends)
    assert [row.ids for row in rows] == wanted
    assert [row.stop for row in rows] == ["eos" if row and row[-1] in ends else "length" for row in wanted]


def test_the_texts_differ(tmp_path: Path) -> None:
    """A model that repeats itself, or writes the same of everything, would prove little."""
    for kind in KINDS:
        model, _ = built(kind)
        ends = set(np.atleast_1d(model.generation_config.eos_token_id).tolist())
        found = [tuple(row) for rules in RULES.values() for row in theirs(model, rules, ends)]
        assert len(set(found)) >= 12 and max(len(set(row)) for row in found) > 4


def test_a_row_is_the_same_alone(tmp_path: Path) -> None:
    """Padded sources beside it change nothing."""
    graphs = open_both(built("bart")[1], "cpu")
    found = settings(built("bart")[1], VOCAB)
    for beams in (Beams(1), Beams(4)):
        chosen = replace(found, beams=beams)
        together = translate(graphs, SOURCES, chosen, 16)
        assert [translate(graphs, [source], chosen, 16)[0].ids for source in SOURCES] == [row.ids for row in together]


def ran(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str, str]:
    folder = built("bart")[1]
    capsys.readouterr()
    status = main(["run", str(folder), "--provider", "cpu", *arguments])
    out, err = capsys.readouterr()
    return status, out.strip(), err


def test_the_command(capsys: pytest.CaptureFixture) -> None:
    graphs, source = open_both(built("bart")[1], "cpu"), ",".join(map(str, SOURCES[0]))
    found = settings(built("bart")[1], VOCAB)
    (greedy,) = translate(graphs, SOURCES[:1], found, 11)
    assert ran(capsys, "--ids", source, "--max-new-tokens", "10")[:2] == (0, ",".join(map(str, greedy.ids)))
    status, out, _ = ran(capsys, "--ids", source, "--num-beams", "3", "--max-new-tokens", "10", "--forced-bos", "7", "--format", "json")
    (record,) = json.loads(out)
    assert (status, record["ids"], record["new_ids"][0]) == (0, SOURCES[0], 7)
    (other,) = translate(graphs, SOURCES[:1], replace(found, start=(9,)), 7)
    assert ran(capsys, "--ids", source, "--max-new-tokens", "6", "--start-token", "9")[1] == ",".join(map(str, other.ids))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ids", "1,60"), "outside the vocabulary"),
        (("--ids", "1", "--chunk", "3"), "--chunk cuts prompts"),
        (("--ids", "1", "--num-beams", "0"), "--num-beams is a whole number"),
        (("--ids", "1", "--num-beams", "2", "--temperature", "0.7"), "beams are not drawn"),
        (("--ids", "1", "--max-new-tokens", "0"), "--max-new-tokens is a whole number"),
        (("--ids", "1", "--max-new-tokens", "99"), "more than the 64"),
        (("--text", "a"), "no tokenizer.json"),
    ],
)
def test_what_the_command_refuses(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture) -> None:
    status, out, err = ran(capsys, *arguments)
    assert (status, out) == (2, "")
    assert words in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"num_beam_groups": 2}, "uses `num_beam_groups`"),
        ({"sequence_bias": [[[1], 2.0]]}, "uses `sequence_bias`"),
        ({"bad_words_ids": [[99]]}, "`bad_words_ids` in the published generation settings holds 99"),
        ({"bad_words_ids": [[]]}, "no list of runs"),
        ({"num_beams": "four"}, "`num_beams` in the published generation settings is 'four'"),
        ({"eos_token_id": -1}, "`eos_token_id`"),
        ({"max_length": 10**12}, "`max_length`"),
    ],
)
def test_published_settings_that_are_refused(given: dict[str, Any], words: str, tmp_path: Path) -> None:
    """A setting that changes what is written is never passed over."""
    (tmp_path / "generation_config.json").write_text(json.dumps(given))
    with pytest.raises(SpecError) as caught:
        settings(tmp_path, VOCAB)
    assert words in str(caught.value)


def test_older_checkpoints_say_it_in_their_config(tmp_path: Path) -> None:
    config = {"num_beams": 4, "max_length": 30, "length_penalty": 2.0, "bad_words_ids": [[59]], "decoder_start_token_id": 59, "eos_token_id": 0, "early_stopping": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = settings(tmp_path, VOCAB)
    assert (found.start, found.longest, found.beams) == ((59,), 30, Beams(4, 2.0, True))
    assert (found.rules.ends, found.rules.bad_words) == ((0,), ((59,),))
    (tmp_path / "generation_config.json").write_text(json.dumps({"decoder_start_token_id": 3}))
    assert (settings(tmp_path, VOCAB).start, settings(tmp_path, VOCAB).beams) == ((3,), Beams())
