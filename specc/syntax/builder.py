"""Reductions to tree nodes: one method per rule of the grammar, named `on_RULE` (or after the rule's alias)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specc.diagnostics.finding import Report, fail
from specc.source import Source, Span
from specc.syntax import limits, numbers, tree
from specc.syntax.driver import Handler
from specc.syntax.lexer import Token
from specc.syntax.tables import Tables


class _Body(tuple[Any, ...]):
    """Statements between braces."""


class _Parameters(tuple[str, ...]):
    """Names between parentheses."""


class _Extends(str):
    """The name after `extends`."""


class _Version(int):
    span: Span


class Builder:
    """Builds the tree of one file. Numbers out of range go to the report; an expression too deep ends the parse."""

    def __init__(self, source: Source, docs: dict[int, str], report: Report) -> None:
        self.source = source
        self.docs = docs
        self.report = report
        self._depths: dict[int, tuple[int, int]] = {}  # by identity of a composite node: levels, height

    def handlers(self, tables: Tables) -> list[Handler | None]:
        return [getattr(self, f"on_{r.handler}") if r.handler and not r.spliced else None for r in tables.rules]

    def forget_depths(self) -> None:
        """Before each run: the identity of a dropped node may come back as another's."""
        self._depths.clear()

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    # ---- files and sections

    def on_start(self, parts: list[Any], start: int, end: int) -> tree.File:
        whole = self.span(0, len(self.source.text))
        if parts and isinstance(parts[0], _Version):
            version, *items = parts
            return tree.File(int(version), tuple(items), whole, version.span)
        return tree.File(None, tuple(parts), whole)

    def on_version(self, parts: list[Token], start: int, end: int) -> _Version:
        version = _Version(numbers.value_of(parts[0].text))  # the parser has refused whatever is not a known version
        version.span = self.span(start, end)
        return version

    def on_use(self, parts: list[Token], start: int, end: int) -> tree.Use:
        return tree.Use(parts[0].text[1:-1], self.span(start, end))

    def on_model(self, parts: list[Any], start: int, end: int) -> tree.Model:
        name = parts[0]
        parameters = next((p for p in parts if isinstance(p, _Parameters)), ())
        extends = next((str(p) for p in parts if isinstance(p, _Extends)), None)
        span, name_span = self.span(start, end), self.span(name.start, name.end)
        return tree.Model(name.text, tuple(parameters), extends, tuple(parts[-1]), span, name_span, self._doc(start))

    def on_extends(self, parts: list[Token], start: int, end: int) -> _Extends:
        return _Extends(parts[0].text)

    def on_parameters(self, parts: list[Token], start: int, end: int) -> _Parameters:
        return _Parameters(token.text for token in parts)

    def on_adapter(self, parts: list[Any], start: int, end: int) -> tree.Adapter:
        name, target, *body = parts
        named = not target.text.startswith('"')
        places = (self.span(name.start, name.end), self.span(target.start, target.end))
        text = target.text if named else target.text[1:-1]
        return tree.Adapter(name.text, text, tuple(body), self.span(start, end), self._doc(start), named, *places)

    def on_body(self, parts: list[Any], start: int, end: int) -> _Body:
        return _Body(parts)

    def on_layer(self, parts: list[Any], start: int, end: int) -> tree.Layer:
        return tree.Layer(parts[0].text, tuple(parts[1]), self.span(start, end), self._doc(start))

    def on_block(self, parts: list[Any], start: int, end: int) -> tree.Block:
        name, parameters, *fields = parts
        return tree.Block(name.text, tuple(parameters), tuple(fields), self.span(start, end), self._doc(start))

    def on_stack(self, parts: list[Any], start: int, end: int) -> tree.Stack:
        return tree.Stack(parts[0].text, tuple(parts[1]), self.span(start, end))

    def on_checks(self, parts: list[tree.Check], start: int, end: int) -> tree.Checks:
        return tree.Checks(tuple(parts), self.span(start, end))

    def on_check(self, parts: list[Any], start: int, end: int) -> tree.Check:
        return tree.Check(parts[0], parts[1].text, parts[2], self.span(start, end))

    def on_require(self, parts: list[Any], start: int, end: int) -> tree.Require:
        return tree.Require(parts[0], parts[1].text[1:-1], self.span(start, end))

    def on_weights(self, parts: list[Any], start: int, end: int) -> tree.Weights:
        return tree.Weights(parts[0].text, tuple(parts[1:]), self.span(start, end))

    def on_field(self, parts: list[Any], start: int, end: int) -> tree.Field:
        return tree.Field(parts[0], parts[1], self.span(start, end), self._doc(start))

    def on_path(self, parts: list[Any], start: int, end: int) -> tree.Path:
        return tree.Path(tuple(p if isinstance(p, str) else p.text for p in parts), self.span(start, end))

    def on_index(self, parts: list[Token], start: int, end: int) -> str:
        return f"[{parts[0].text}]"

    def on_change(self, parts: list[Any], start: int, end: int) -> tree.Call:
        word = parts[0]
        return self.on_call([tree.Name(word.text, self.span(word.start, word.end)), *parts[1:]], start, end)

    def _doc(self, start: int) -> str:
        return self.docs.get(start, "")

    # ---- expressions

    def on_choice(self, parts: list[tree.Expr], start: int, end: int) -> tree.If:
        return self._measured(tree.If(*parts, self.span(start, end)), parts)

    def on_match(self, parts: list[Any], start: int, end: int) -> tree.Match:
        subject, *arms = parts
        node = tree.Match(subject, tuple(arms), self.span(start, end))
        return self._measured(node, [subject, *(arm.value for arm in arms)])

    def on_arm(self, parts: list[Any], start: int, end: int) -> tree.Arm:
        return tree.Arm(parts[0], parts[1], self.span(start, end))

    def on_otherwise(self, parts: list[Any], start: int, end: int) -> None:
        return None

    def on_binary(self, parts: list[Any], start: int, end: int) -> tree.Binary:
        left, operator, right = parts
        node = tree.Binary(operator.text, left, right, self.span(start, end))
        if isinstance(left, tree.Binary):
            return self._measured(node, (right,), left)
        return self._measured(node, (left, right))

    def on_unary(self, parts: list[Any], start: int, end: int) -> tree.Unary:
        return self._measured(tree.Unary(parts[0].text, parts[1], self.span(start, end)), parts[1:])

    def on_name(self, parts: list[Token], start: int, end: int) -> tree.Name:
        return tree.Name(parts[0].text, self.span(start, end))

    def on_attribute(self, parts: list[Any], start: int, end: int) -> tree.Attribute:
        return self._measured(tree.Attribute(parts[0], parts[1].text, self.span(start, end)), (), parts[0])

    def on_call(self, parts: list[Any], start: int, end: int) -> tree.Call:
        function, *arguments = parts
        node = tree.Call(function, tuple(arguments), self.span(start, end))
        return self._measured(node, [a.value for a in arguments], function)

    def on_subscript(self, parts: list[tree.Expr], start: int, end: int) -> tree.Index:
        return self._measured(tree.Index(parts[0], parts[1], self.span(start, end)), parts[1:], parts[0])

    def on_argument(self, parts: list[Any], start: int, end: int) -> tree.Argument:
        return tree.Argument(parts[0].text if len(parts) == 2 else None, parts[-1], self.span(start, end))

    def on_list(self, parts: list[tree.Expr], start: int, end: int) -> tree.ListOf:
        return self._measured(tree.ListOf(tuple(parts), self.span(start, end)), parts)

    def on_each(self, parts: list[Any], start: int, end: int) -> tree.For:
        name, over, body = parts
        return self._measured(tree.For(name.text, over, body, self.span(start, end)), (over, body))

    def on_repeat(self, parts: list[tree.ListOf], start: int, end: int) -> tree.Repeat:
        return self._measured(tree.Repeat(parts[0], self.span(start, end)), (), parts[0])

    def on_number(self, parts: list[Token], start: int, end: int) -> tree.Literal:
        span, text = self.span(start, end), parts[0].text
        try:
            return tree.Literal(numbers.value_of(text), span, text)
        except numbers.BadNumber as bad:
            code, message, help = bad.args
            if len(self.report.found) < limits.ERRORS:
                self.report.error(code, message, span, help)
            return tree.Literal(0, span, text)

    def on_string(self, parts: list[Token], start: int, end: int) -> tree.Literal:
        return tree.Literal(parts[0].text[1:-1], self.span(start, end))

    def on_true(self, parts: list[Any], start: int, end: int) -> tree.Literal:
        return tree.Literal(True, self.span(start, end))

    def on_false(self, parts: list[Any], start: int, end: int) -> tree.Literal:
        return tree.Literal(False, self.span(start, end))

    def on_none(self, parts: list[Any], start: int, end: int) -> tree.Literal:
        return tree.Literal(None, self.span(start, end))

    # ---- depth: levels count what stands inside something else, height counts every node on the longest way down

    def _measured(self, node: Any, inner: Sequence[Any], first: Any = None) -> Any:
        """The node, its depth noted. `first` is a left operand, or what a `.name`, `[index]` or call follows: such a
        row of operations reads flat and adds no level."""
        depths, leaf = self._depths, (1, 1)
        levels, height = depths.get(id(first), leaf) if first is not None else leaf
        height += 1
        for child in inner:
            below, under = depths.get(id(child), leaf)
            levels = max(levels, below + 1)
            height = max(height, under + 1)
        if levels > limits.LEVELS:
            message = f"expressions stand inside one another more than {limits.LEVELS} deep"
            raise fail("LIM003", message, node.span, "give inner parts a name of their own")
        if height > limits.CHAIN:
            message = f"a row of more than {limits.CHAIN} operations"
            raise fail("LIM004", message, node.span, "give parts of it a name of their own")
        depths[id(node)] = levels, height
        return node
