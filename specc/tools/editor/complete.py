"""What could be typed at a place: from the grammar, the registry, the fields of components, and the names in reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from specc.components.registry import OVER, SUBLAYERS, load, members
from specc.resolve.functions import FUNCTIONS
from specc.resolve.parts import INNER, KNOWN, MODEL_ONLY, OF_FAMILIES
from specc.syntax import driver
from specc.syntax.lexer import Token
from specc.tools.editor import wording
from specc.tools.editor.analysis import Analysis
from specc.tools.editor.context import argument_of, axes_at, component_of
from specc.tools.editor.cursor import Cursor, cursor
from specc.tools.editor.outline import Frame
from specc.tools.editor.project import Project
from specc.tools.editor.reach import Reach
from specc.tools.fact_values import CALLED, PLAIN
from specc.tools.other_model import OTHER

Kind = Literal["keyword", "field", "variant", "argument", "value", "name", "function", "fact", "file"]
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
IN_STRING = re.compile(r'(?:\buse|\bfor)\s*"(?P<begun>[^"\n]*)\Z')
OPEN_STRING = re.compile(r'^(?:[^"\n#]*"[^"\n]*")*[^"\n#]*"[^"\n]*\Z')
COMMENT = re.compile(r'^(?:[^"\n#]|"[^"\n]*")*#')


@dataclass(frozen=True, slots=True)
class Completion:
    """One thing that could stand here. `insert`: the text, with `$0` where the cursor goes."""

    label: str
    kind: Kind
    insert: str
    detail: str = ""
    doc: str = ""


def complete(project: Project, analysis: Analysis, offset: int) -> tuple[int, list[Completion]]:
    """-> where the word at hand begins, and everything that it could become."""
    text = project.read(analysis.path).text[:offset]
    line = text[text.rfind("\n") + 1 :]
    if COMMENT.match(line):
        return offset, []
    if begun := IN_STRING.search(line):
        return offset - len(begun["begun"]), list(_files(analysis.path))
    if OPEN_STRING.match(line):
        return offset, []
    word = WORD.search(text)
    start = word.start() if word else offset
    at = cursor(text[:start])
    if at is None:
        return start, []
    found = _Completer(project, analysis, at).all()
    return start, list({(one.label, one.label in wording.SECTIONS and one.kind == "keyword"): one for one in found}.values())


def _files(path: Path) -> Iterator[Completion]:
    """Specs beside this one and below it."""
    folder = path.parent
    for file in sorted(folder.glob("*.specc")) + sorted(folder.glob("*/*.specc")):
        if file.resolve() != path.resolve():
            name = file.relative_to(folder).as_posix()
            yield Completion(name, "file", name)


@dataclass(slots=True)
class _Completer:
    project: Project
    analysis: Analysis
    at: Cursor

    @property
    def frame(self) -> Frame:
        return self.at.frame

    @property
    def reach(self) -> Reach:
        return Reach(self.project, self.analysis, self.frame)

    def all(self) -> Iterator[Completion]:
        last = self.at.last().type
        if last == "DOT":
            yield from self._after_dot()
            return
        if last == "EXTENDS":
            yield from (Completion(name, "name", name, "model") for name in self.reach.sections("model"))
            return
        if last in ("MODEL", "LAYER", "BLOCK", "WEIGHTS", "ADAPTER") and self.at.begins and self.frame.kind != "call":
            return  # a new name is the user's to choose
        words = self._words()
        yield from (Completion(word, "keyword", word, doc=wording.SECTIONS.get(word, "")) for word in words)
        if self.frame.kind == "file":
            return
        if self.frame.kind == "call":
            yield from self._in_call()
        elif self.frame.kind == "checks":
            yield from self._facts()
        elif self.at.begins and self.frame.kind in ("model", "layer", "encoder", "decoder", "block", "weights", "adapter"):
            yield from self._statements()
        else:
            yield from self._values()

    def _words(self) -> list[str]:
        """The words of the grammar that can stand here: those that the parser would take."""
        tokens, automaton = self.at.before, self.at.tables
        first = next((n for n in range(len(tokens) - 1, -1, -1) if self._is_start(n)), 0)
        terminals = driver.expected(automaton, tokens, first, len(tokens))
        spelt = {terminal: automaton.literals.get(terminal, "") for terminal in terminals}
        words = {terminal: word for terminal, word in spelt.items() if word[:1].isalpha()}
        return sorted(word for terminal, word in words.items() if terminal not in automaton.soft or self._heads(terminal, word, first))

    def _heads(self, terminal: str, word: str, first: int) -> bool:
        """Whether a section word begins a section here, and is not merely a name: a name, a string or a brace may follow."""
        tokens = [*self.at.before, Token(terminal, word, 0, 0)]
        return not driver.expected(self.at.tables, tokens, first, len(tokens)).isdisjoint(("NAME", "STRING", "LBRACE", "NUMBER"))

    def _is_start(self, index: int) -> bool:
        """Whether the section around this place begins at a token: a mistake above it is of no matter."""
        outermost = [f for f in self.frame.outwards() if f.kind != "file"]
        return bool(outermost) and self.at.before[index].start == outermost[-1].start

    # ---- statements

    def _statements(self) -> Iterator[Completion]:
        kind = self.frame.kind
        if kind == "weights":
            yield from (
                Completion(path, "field", f"{path} = $0", "parameter") for path in self.reach.parameters() if path not in self.frame.given
            )
            yield from (Completion(word, "field", f"{word} = $0") for word in ("root", "ignore") if word not in self.frame.given)
        elif kind == "block":
            yield from (Completion(name, "name", f"{name} = $0") for name in self.reach.locals())
            if "final_norm" not in self.frame.given:
                yield Completion("final_norm", "field", "final_norm = $0", doc=wording.field_doc("final_norm"))
        elif kind == "adapter":
            yield from (self._variant(axis, kind) for axis in OVER for kind in members(axis))
        elif kind in ("model", "layer", "encoder", "decoder"):
            for name in KNOWN:
                if name not in self.frame.given and not (kind == "layer" and name in MODEL_ONLY) and self._fits(name):
                    yield Completion(name, "field", f"{name} = $0", doc=wording.field_doc(name))
            for path in self.reach.labels():
                if path not in self.frame.given:
                    yield Completion(path, "field", f"{path} = $0", "an instance that the block calls")

    def _fits(self, name: str) -> bool:
        """`sample` and `ignore` are of families alone; some axes stand inside other components."""
        return name not in INNER and (name not in OF_FAMILIES or bool(self.reach.variables()))

    # ---- values

    def _in_call(self) -> Iterator[Completion]:
        call = self.frame
        cls = component_of(call)
        fresh = self.at.last().type in ("LPAR", "COMMA")
        if cls is not None and fresh:
            given = [*call.given, *cls.positional[: call.position]]
            for name in wording.fields_of(cls):
                if name not in given:
                    needed = "" if wording.is_needed(cls, name) else f", by default {wording.default_of(cls, name)}"
                    yield Completion(name, "argument", f"{name}: $0", wording.type_of(cls, name) + needed, wording.component_doc(cls))
        if self.frame.section() is not None and self.frame.section().kind == "checks":
            yield from self._fact_arguments(call)
            return
        field = argument_of(call, cls) if cls is not None else None
        if field is not None and (not fresh or call.argument is None):
            if not wording.axis_of_field(cls, field):
                yield from (Completion(word, "value", word, f"a value of {field}") for word in wording.words_of(cls, field))
        if not fresh or cls is None or field is not None:
            yield from self._values()

    def _values(self) -> Iterator[Completion]:
        section = self.frame.section()
        if section is None:
            return
        if section.kind == "block":
            yield from self._formula()
            return
        statement = next((f.statement for f in self.frame.outwards() if f.statement is not None), None)
        if statement == "block":
            yield from (Completion(name, "name", name, "block") for name in self.reach.sections("block"))
            return
        if statement == "layers":
            yield from (Completion(name, "name", name, "layer") for name in self.reach.layers())
        for axis in axes_at(self.frame):
            for kind in members(axis):
                yield self._variant(axis, kind)
        if statement == "embed":
            yield from (Completion(name, "name", f"{name}.$0") for name in SUBLAYERS if name == "norm")
        yield from (Completion(name, "name", name) for name in (*self.reach.variables(), *self.reach.fields()) if name != statement)
        layouts = section.kind == "weights"
        for name, function in FUNCTIONS.items():
            if layouts == (function.__annotations__.get("return") == "Source"):
                yield Completion(name, "function", f"{name}($0)", doc=(function.__doc__ or "").strip().partition("\n\n")[0])

    def _variant(self, axis: str, kind: str) -> Completion:
        cls = load(axis, kind)
        insert = f"{kind}($0)" if wording.fields_of(cls) else kind
        return Completion(kind, "variant", insert, axis, wording.component_doc(cls))

    def _formula(self) -> Iterator[Completion]:
        """What a block's formula may name: what it bound, and the sublayers."""
        yield from (Completion(name, "name", name) for name in self.reach.locals())
        own = [name for name in self.reach.fields() if name not in KNOWN]
        for name in (*SUBLAYERS, *own):
            yield Completion(name, "name", f"{name}.$0" if name == "norm" else f"{name}($0)", doc=wording.field_doc(name))

    def _after_dot(self) -> Iterator[Completion]:
        before = self.at.last(2).text
        if before == "layer":
            yield Completion("index", "name", "index", "the number of the layer at hand, from 0")
            return
        labels = dict.fromkeys(path.partition(".")[2] for path in self.reach.labels() if path.startswith(f"{before}."))
        calls = self.frame.section("block") is not None or any(f.statement == "embed" for f in self.frame.outwards())
        yield from (
            Completion(label, "name", f"{label}($0)" if calls else label, "a label of its own weights") for label in labels if label
        )

    # ---- checks

    def _facts(self) -> Iterator[Completion]:
        if self.at.last().type in ("LBRACE", "NUMBER", "RPAR") or self.at.begins:
            yield from (Completion(name, "fact", name) for name in PLAIN)
            yield from (Completion(name, "fact", f"{name}($0)", ", ".join(CALLED[name][0])) for name in CALLED)
            yield from (Completion(name, "fact", f'{name} == "$0"', "of another spec") for name in OTHER)

    def _fact_arguments(self, call: Frame) -> Iterator[Completion]:
        from specc.tools.analyse import BYTES

        types = CALLED[call.name][0] if call.name in CALLED else {}
        if call.argument is None:
            yield from (Completion(name, "argument", f"{name}: $0") for name in types if name not in call.given)
        elif call.argument == "dtype":
            yield from (Completion(name, "value", name) for name in BYTES)
