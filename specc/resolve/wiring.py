"""From the formulas of blocks and embeddings to dataflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from specc.diagnostics.finding import SpecError, fail
from specc.ir.wiring import Add, Assign, Block, Call, Concat, Insert, Ref, Scale, Wire
from specc.resolve.evaluate import evaluate
from specc.resolve.scope import Scope
from specc.resolve.values import Symbol, describe
from specc.resolve.work import CALL
from specc.source import Span
from specc.syntax import tree

MOST_WRONG = 20  # statements of one block that are named as wrong
JOINS = ("concat", "insert")  # what a formula of the embedding may do along the sequence
DECLARED = ("final_norm",)  # statements of a block that are about the model, not about x


@dataclass(slots=True)
class Wirer:
    """Reads one formula.

    `instance(path, inputs, other arguments, span)` makes the called sublayer known and gives its name in the IR, or None
    where the model says that there is none. joins: whether the formula may change how many tokens there are.
    """

    scope: Scope
    instance: Callable[[str, tuple[Wire, ...], tuple[tree.Argument, ...], Span], str | None]
    bound: dict[str, None] = field(default_factory=dict)
    joins: bool = False
    beside: Wire | None = None  # the terms before the one being read, of the sum that it stands in
    memory: str = ""  # the block's second input, the encoder's output: it flows only into calls, beside another value

    def block(self, block: tree.Block) -> Block:
        """A block's statements in order. Raises SpecError with every finding."""
        self.bound, self.memory = dict.fromkeys(block.parameters), "".join(block.parameters[1:2])
        body, wrong, declared = [], [], set()
        for statement in block.fields:
            name = str(statement.path)
            if len(wrong) >= MOST_WRONG:
                break
            if name in DECLARED:
                if name in declared:
                    wrong += fail("NAM005", f"`{name}` is given twice", statement.path.span).diagnostics
                declared.add(name)
                continue
            if name == self.memory:
                wrong += fail("NAM006", f"`{name}` is the encoder's output, which every layer is to see, and no block binds again", statement.path.span).diagnostics
                continue
            if len(statement.path.parts) > 1:
                wrong += fail("NAM006", f"a block binds plain names, not `{name}`", statement.path.span).diagnostics
                continue
            try:
                body.append(Assign(name=name, value=self.wire(statement.value)))
            except SpecError as error:
                wrong += error.diagnostics
            self.bound[name] = None
        if not block.parameters or all(a.name != block.parameters[0] for a in body) and not wrong:
            raise fail("VAL010", f"the block `{block.name}` never binds its first input again, so it does nothing", block.span)
        if wrong:
            raise SpecError(dict.fromkeys(wrong))
        return Block(name=block.name, inputs=block.parameters, body=tuple(body))

    def wire(self, expr: tree.Expr) -> Wire:
        self.scope.work.spend(CALL, expr.span)
        match expr:
            case tree.Name(id=name) if name in self.bound and name != self.memory:
                return Ref(name=name)
            case tree.Name(id=name) if name in self.bound:
                raise fail("TYP013", f"`{name}` is the encoder's output, which flows only into a call, beside a value of this stack: `cross(x, {name})`", expr.span)
            case tree.Call(function=tree.Name(id=name)) if name in JOINS:
                return self._joined(name, expr)
            case tree.Call():
                return self._call(expr)
            case tree.Binary(operator="+"):
                return self._sum(expr)
            case tree.Binary(operator="*"):
                return self._scaled(expr)
            case tree.If():
                return self.wire(expr.yes if evaluate(expr.condition, self.scope) is True else expr.no)
            case tree.Name():
                raise self._nothing(expr)
        raise fail("TYP012", "a formula is made of sublayer calls, sums and products with a number", expr.span)

    def _sum(self, expr: tree.Binary) -> Wire:
        left, outer = self.wire(expr.left), self.beside
        self.beside = left
        try:
            right = self.wire(expr.right)
        finally:
            self.beside = outer
        return Add(terms=(*(left.terms if isinstance(left, Add) else (left,)), right))

    def _joined(self, name: str, expr: tree.Call) -> Wire:
        if not self.joins:
            raise fail("TYP012", f"`{name}` changes how many tokens there are, and only `embed` may do that", expr.span)
        named = {a.name: a.value for a in expr.arguments if a.name}
        plain = [a.value for a in expr.arguments if not a.name]
        outer, self.beside = self.beside, None
        try:
            if name == "concat" and len(plain) > 1 and not named:
                return Concat(parts=tuple(self.wire(part) for part in plain))
            if name == "insert" and len(plain) == 1 and named.keys() == {"at", "into"}:
                at = evaluate(named["at"], self.scope)
                if isinstance(at, bool) or not isinstance(at, int) or at < 0:
                    raise fail("TYP004", f"`at` counts the tokens in front, and it is {describe(at)}", named["at"].span)
                return Insert(what=self.wire(plain[0]), at=at, into=self.wire(named["into"]))
        finally:
            self.beside = outer
        raise fail("TYP013", "the forms are `concat(a, b)` and `insert(a, at: 1, into: b)`", expr.span)

    def _scaled(self, expr: tree.Binary) -> Wire:
        for constant, flow in ((expr.left, expr.right), (expr.right, expr.left)):
            if self._flows(constant) or not self._flows(flow):
                continue
            factor = evaluate(constant, self.scope)
            if isinstance(factor, bool) or not isinstance(factor, (int, float)):
                raise fail("TYP004", f"a scaled branch needs a number, and this is {describe(factor)}", constant.span)
            return self.wire(flow) if factor == 1 else Scale(factor=float(factor), of=self.wire(flow))
        raise fail("TYP012", "a product in a formula is a number times one value", expr.span)

    def _flows(self, expr: tree.Expr) -> bool:
        """Whether an expression holds a value of the dataflow rather than a number."""
        match expr:
            case tree.Name(id=name):
                return name in self.bound
            case tree.Call(function=tree.Name(id=name)):
                return name not in ("sqrt", "min", "max", "len")
            case tree.Call():
                return True
            case tree.Binary():
                return self._flows(expr.left) or self._flows(expr.right)
            case tree.If():
                return self._flows(expr.yes) or self._flows(expr.no)
            case _:
                return False

    def _call(self, expr: tree.Call) -> Wire:
        path = _path(expr.function)
        for argument in expr.arguments:
            self._known(argument)
        inputs = [a for a in expr.arguments if self._flows(a.value)]
        others = tuple(a for a in expr.arguments if not self._flows(a.value))
        wires = tuple(self._input(a.value, first=n == 0) for n, a in enumerate(inputs))
        name = self.instance(path, wires, others, expr.span)
        if name is None:
            if len(wires) != 1 and wires[1:] != (Ref(name=self.memory),):
                raise fail("TYP013", f"`{path}` is none here, and a value passes through it only alone", expr.span)
            return wires[0]
        return Call(instance=name, inputs=wires)

    def _input(self, expr: tree.Expr, first: bool) -> Wire:
        """What flows into a call: the encoder's output never as the first."""
        if not first and isinstance(expr, tree.Name) and expr.id == self.memory:
            return Ref(name=self.memory)
        return self.wire(expr)

    def _known(self, argument: tree.Argument) -> None:
        """Raises SpecError where a bare word is handed to a call that neither the formula nor the model knows."""
        word = argument.value
        if argument.name is None and isinstance(word, tree.Name) and word.id not in self.bound:
            if isinstance(self.scope.lookup(word.id, word.span), Symbol):
                raise self._nothing(word)

    def _nothing(self, word: tree.Name) -> SpecError:
        return fail(
            "NAM007", f"nothing called `{word.id}` flows here", word.span, f"bound so far: {', '.join(self.bound)}" if self.bound else None
        )


def _path(function: tree.Expr) -> str:
    match function:
        case tree.Name(id=name):
            return name
        case tree.Attribute(object=tree.Name(id=name), name=label):
            return f"{name}.{label}"
    raise fail("TYP006", "only a sublayer, or a labelled instance of one, can be called here", function.span)
