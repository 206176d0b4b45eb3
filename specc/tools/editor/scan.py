"""From tokens to an outline, in one pass that no mistake stops: what is half-typed is read as far as it goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from specc.diagnostics.finding import SpecError
from specc.source import Source
from specc.syntax import lexer, place, tables
from specc.syntax.lexer import Token
from specc.tools.editor.outline import Frame, Kind, Occurrence, Outline

NAMED = {"MODEL": "model", "LAYER": "layer", "BLOCK": "block", "WEIGHTS": "weights", "ADAPTER": "adapter"}  # a name follows
NAMELESS = {"ENCODER": "encoder", "DECODER": "decoder", "CHECKS": "checks"}  # a brace follows
HOLD_FIELDS = ("model", "layer", "block", "weights", "adapter", "encoder", "decoder")
ENDS = {"NUMBER", "STRING", "RPAR", "RSQB", "RBRACE", "TRUE", "FALSE", "NONE", "LBRACE", "NAME"}  # a statement may follow


def outline(text: str) -> Outline:
    """The outline of a text; empty where it holds more than specc reads."""
    found = Outline(text, Frame("file", end=len(text)))
    try:
        tokens = lexer.tokenise(Source("", text), tables.load()).tokens
    except SpecError:
        return found
    scanner = Scanner(text, tokens, found, [found.file])
    scanner.run()
    return found


@dataclass(slots=True)
class Scanner:
    text: str
    tokens: list[Token]
    found: Outline
    stack: list[Frame]
    at: int = 0
    head: Frame | None = None  # a section whose brace is awaited
    paths: dict[int, str] = field(default_factory=dict)  # the path that ends at a token

    def run(self) -> None:
        source, soft = Source("", self.text), tables.load().soft
        count = len(self.tokens) - 1
        while self.at < count:
            token = self.tokens[self.at]
            named = token.type == "NAME" or token.type in soft
            if token.type in NAMED and len(self.stack) > 1 and place.is_starter(source, self.tokens, self.at):
                self._unwind()  # a section begins on the left: what was open above it was never closed
            if not (named and (self._section(token) or self._field(token) or self._name(token))):
                self._sign(token)
            self.at += 1
        for frame in self.found.frames:
            frame.end = frame.end or len(self.text)

    # ---- helpers

    @property
    def frame(self) -> Frame:
        return self.stack[-1]

    def _token(self, ahead: int) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)] if self.at + ahead >= 0 else Token(lexer.END, "", 0, 0)

    def _is_name(self, token: Token) -> bool:
        return token.type == "NAME" or token.type in tables.load().soft

    def _begins(self) -> bool:
        return self.at == 0 or self._token(-1).type in ENDS or self._is_name(self._token(-1))

    def _unwind(self) -> None:
        del self.stack[1:]
        self.head = None

    def _add(self, kind: Kind, token: Token, frame: Frame | None = None, defines: bool = False, path: str = "") -> None:
        statement = next((f.statement for f in self.frame.outwards() if f.statement is not None or f.kind in HOLD_FIELDS), None)
        field = "extends" if self._token(-1).type == "EXTENDS" else statement or ""
        at = frame or self.frame
        self.found.occurrences.append(Occurrence(kind, token.text, token.start, token.end, at, defines, path or token.text, field))

    # ---- what a name may be

    def _section(self, token: Token) -> bool:
        """`model NAME`, `checks {`, `use "file"`: at the beginning of a statement."""
        if not self._begins() or self.frame.kind not in ("file", *HOLD_FIELDS):
            return False
        after = self._token(1)
        if token.type == "USE" and after.type == "STRING":
            self._file(after, "use")
            self.at += 1
            return True
        if token.type in NAMELESS and after.type == "LBRACE":
            self.head = self._open_head(NAMELESS[token.type], "", token)
            return True
        if token.type not in NAMED or not self._is_name(after) or self._token(2).type == "EQUAL":
            return False
        self.head = self._open_head(NAMED[token.type], after.text, token)
        self.at += 1
        if self.head.kind in ("model", "layer", "block"):
            self._add(self.head.kind, after, self.frame, defines=True)
        if self._token(1).type == "LPAR":
            self._parameters()
        if self._token(1).type == "EXTENDS" and self._is_name(self._token(2)):
            self.at += 2
            self.head.extends = self._token(0).text
            self._add("model", self._token(0), self.head)
        if self.head.kind == "adapter" and self._token(1).type == "FOR" and self._token(2).type == "STRING":
            self.at += 2
            self._file(self._token(0), "adapter")
        return True

    def _open_head(self, kind: str, name: str, token: Token) -> Frame:
        self.frame.statement = None
        return Frame(kind, name, token.start, parent=self.frame)

    def _parameters(self) -> None:
        """`(x, memory)` of a block or `(config)` of a family."""
        self.at += 2
        while self._is_name(self._token(0)):
            self._add("local" if self.head.kind == "block" else "variable", self._token(0), self.head, defines=True)
            self.at += 2 if self._token(1).type == "COMMA" else 1
        self.at -= self._token(0).type != "RPAR"

    def _file(self, token: Token, word: str) -> None:
        name = token.text.strip('"')
        self.found.occurrences.append(Occurrence("file", name, token.start + 1, token.end - 1, self.frame, path=name, field=word))

    def _field(self, token: Token) -> bool:
        """`a.b[i] =`: a statement of a section."""
        frame = self.frame
        if frame.kind not in HOLD_FIELDS or not self._begins():
            return False
        end = self._path_end()
        if self._token(end).type != "EQUAL":
            return False
        parts = [self._token(n) for n in range(end)]
        path = "".join(t.text for t in parts)
        frame.statement = path
        frame.given.append(path)
        kind: Kind = "local" if frame.kind == "block" and path != "final_norm" else "field"
        names = [t for n, t in enumerate(parts) if self._is_name(t) and (n == 0 or parts[n - 1].type == "DOT")]
        if frame.kind in ("weights", "adapter"):
            for name in names:
                self._add("part", name, path=path)
        else:
            self._add(kind, names[0], defines=True, path=path)
            for name in names[1:]:
                self._add("label", name, path=path)
        self.at += end
        return True

    def _path_end(self) -> int:
        end = 1
        while True:
            if self._token(end).type == "DOT" and self._is_name(self._token(end + 1)):
                end += 2
            elif self._token(end).type == "LSQB" and self._is_name(self._token(end + 1)) and self._token(end + 2).type == "RSQB":
                end += 3
            else:
                return end

    def _name(self, token: Token) -> bool:
        """A name in an expression."""
        before, after = self._token(-1), self._token(1)
        if before.type == "FOR" and self.frame.kind == "list":
            self._add("variable", token, defines=True)
            return True
        path = token.text
        if before.type == "DOT":
            path = f"{self.paths.get(self.at - 2, '')}.{token.text}"
        self.paths[self.at] = path
        if self.frame.kind == "call" and after.type == "COLON" and before.type in ("LPAR", "COMMA"):
            self.frame.argument = token.text
            self.frame.given.append(token.text)
            self._add("argument", token)
        elif before.type == "DOT":
            self._add("label", token, path=path)
        elif after.type == "LPAR" or (after.type == "DOT" and self._called()):
            self._add("call", token, path=path)
        else:
            self._add("word", token)
        return True

    def _called(self) -> bool:
        """Whether the path that begins here is called: `norm.attention(x)`."""
        end = 1
        while self._token(end).type == "DOT" and self._is_name(self._token(end + 1)):
            end += 2
        return self._token(end).type == "LPAR"

    # ---- brackets

    def _sign(self, token: Token) -> None:
        match token.type:
            case "LBRACE":
                self._push(self.head or Frame("match", start=token.start, parent=self.frame), token)
                self.head = None
            case "LPAR":
                path = self.paths.get(self.at - 1)
                self._push(Frame("call" if path else "group", path or "", token.start, parent=self.frame), token)
            case "LSQB":
                self._push(Frame("list", "", token.start, parent=self.frame), token)
            case "RBRACE":
                self._pop(("match", *NAMED.values(), *NAMELESS.values()), token)
            case "RPAR":
                self._pop(("call", "group"), token)
            case "RSQB":
                self._pop(("list",), token)
            case "REQUIRE":
                self.frame.statement = None
            case "COMMA":
                self.frame.argument, self.frame.position = None, self.frame.position + 1

    def _push(self, frame: Frame, token: Token) -> None:
        frame.opened = token.end
        self.stack.append(frame)
        self.found.frames.append(frame)

    def _pop(self, kinds: tuple[str, ...], token: Token) -> None:
        """Closes the innermost bracket of this sort, and with it what was left open inside."""
        place = next((n for n in range(len(self.stack) - 1, 0, -1) if self.stack[n].kind in kinds), None)
        if place is not None:
            for frame in self.stack[place:]:
                frame.end = token.start
            del self.stack[place:]
