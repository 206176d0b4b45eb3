"""Text to ids and back: pieces that come one by one make the text that comes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.diagnostics.finding import SpecError
from specc.tools.runtime.settings import end_tokens, labels, mask_token
from specc.tools.runtime.tokens import Stream, Tokens
from tests.tools.runtime.built import built

pytest.importorskip("transformers")


def pieces(tokens: Tokens, prompt: str, rest: str) -> list[str]:
    stream = Stream(tokens, tokens.encode(prompt).ids)
    return [stream.step(token) for token in tokens.encode(rest).ids] + [stream.rest()]


def test_pieces_make_the_text():
    tokens = Tokens(built("llama"))
    rest = " one two three four five six seven eight, and so on beyond the window of sixteen tokens"
    assert "".join(pieces(tokens, "zero", rest)) == rest


def test_a_character_waits_for_all_its_bytes():
    assert pieces(Tokens(built("llama")), "a", "é😀b") == ["", "é", "", "", "", "😀", "b", ""]


def test_a_character_that_the_prompt_began():
    tokens = Tokens(built("llama"))
    first, second = tokens.encode("é").ids
    stream = Stream(tokens, [first])
    assert [stream.step(second), stream.rest()] == ["é", ""]


def test_a_character_that_is_never_completed_shows_at_the_end():
    tokens = Tokens(built("llama"))
    stream = Stream(tokens, tokens.encode("a").ids)
    assert [stream.step(tokens.encode("é").ids[0]), stream.rest()] == ["", "\ufffd"]


def test_nothing_is_padded_or_cut():
    text = Tokens(built("bert")).encode("the cat " * 20)
    assert len(text.ids) == 42
    assert (text.tokens[0], text.tokens[-1], set(text.segments)) == ("[CLS]", "[SEP]", {0})


def test_the_mask(tmp_path: Path):
    assert Tokens(built("masked")).mask() == 4
    assert Tokens(built("llama")).mask() is None
    (tmp_path / "tokenizer_config.json").write_text('{"mask_token": {"content": "<m>", "lstrip": true}}')
    assert mask_token(tmp_path) == "<m>"


def test_end_tokens(tmp_path: Path):
    assert end_tokens(tmp_path) == frozenset()
    (tmp_path / "config.json").write_text('{"eos_token_id": 2}')
    assert end_tokens(tmp_path) == {2}
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": null}')
    assert end_tokens(tmp_path) == {2}
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [3, 5]}')
    assert end_tokens(tmp_path) == {3, 5}


def test_labels(tmp_path: Path):
    assert labels(tmp_path, 2) == ["0", "1"]
    (tmp_path / "config.json").write_text('{"id2label": {"0": "no", "1": "yes"}}')
    assert labels(tmp_path, 2) == ["no", "yes"]


def test_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(SpecError, match="SYS022: .* holds no tokenizer.json"):
        Tokens(tmp_path)
    for name, read in (("tokenizer.json", Tokens), ("config.json", end_tokens)):
        (tmp_path / name).write_text("{")
        with pytest.raises(SpecError, match=f"SYS001: cannot read .*{name}"):
            read(tmp_path)
