"""The tokenizer beside a graph: text to ids, and ids to text as they come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import fail
from specc.tools.runtime.settings import mask_token

FILE = "tokenizer.json"
WINDOW = 16  # tokens before a new one that can change how it is spelt


@dataclass(frozen=True, slots=True)
class Text:
    """A text's ids, the tokens' spellings, and the segment of each."""

    ids: list[int]
    tokens: list[str]
    segments: list[int]


class Tokens:
    """tokenizer.json. Padding and truncation that it may ask for are left out: nothing is cut in silence."""

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        if not path.is_file():
            raise fail("SYS022", f"{folder} holds no {FILE}, so text cannot be read", None, "give token ids: --ids 1,2,3")
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises no narrower kind
            raise fail("SYS001", f"cannot read {path}: {str(error)[:200]}") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._folder = folder

    def encode(self, text: str) -> Text:
        if not text:
            raise fail("SYS022", "an input is empty; the model needs at least one token")
        found = self._tokenizer.encode(text)
        return Text(found.ids, found.tokens, found.type_ids)

    def decode(self, ids: list[int]) -> str:
        """The text without special tokens."""
        return self._tokenizer.decode(ids, skip_special_tokens=True)

    def spelling(self, token: int) -> str:
        """One token as text."""
        return self._tokenizer.decode([token], skip_special_tokens=False).strip() or self._tokenizer.id_to_token(token) or ""

    def name(self, token: int) -> str:
        """How tokenizer.json names a token."""
        return self._tokenizer.id_to_token(token) or str(token)

    def mask(self) -> int | None:
        """The mask token's id."""
        for name in filter(None, (mask_token(self._folder), "[MASK]", "<mask>")):
            if (found := self._tokenizer.token_to_id(name)) is not None:
                return found
        return None


class Stream:
    """The text of tokens that follow a prompt, piece by piece. Characters that are not complete yet are held back."""

    def __init__(self, tokens: Tokens, prompt: list[int]) -> None:
        self._tokens, self._ids = tokens, prompt[-WINDOW:]
        self._shown = tokens.decode(self._ids).rstrip("\ufffd")  # the first new tokens complete it

    def step(self, token: int) -> str:
        self._ids.append(token)
        text = self._tokens.decode(self._ids)
        if text.endswith("\ufffd"):
            return ""
        piece = text[len(self._shown) :]
        self._ids = self._ids[-WINDOW:]
        self._shown = self._tokens.decode(self._ids)
        return piece

    def rest(self) -> str:
        """What was held back when there are no more tokens."""
        return self._tokens.decode(self._ids)[len(self._shown) :]
