"""Expressions to text: on one line with the fewest parentheses, or broken at brackets and operators to fit."""

from __future__ import annotations

from collections.abc import Sequence

from specc.syntax import tree

WIDTH = 100
_INDENT = "  "

# How tightly each form binds, from the loosest. An operand that binds less tightly than its place asks stands in parentheses.
_ORDER = (("if",), ("|",), ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("??",), ("+", "-"),
          ("*", "/", "//", "%"), ("unary",), ("**",), ("postfix",))  # fmt: skip
LEVEL = {form: level for level, forms in enumerate(_ORDER) for form in forms}


def level_of(node: tree.Expr) -> int:
    match node:
        case tree.If() | tree.Match():
            return LEVEL["if"]
        case tree.Binary(operator=operator):
            return LEVEL[operator]
        case tree.Unary():
            return LEVEL["unary"]
        case tree.Literal(value=int() | float() as value) if str(value).startswith("-"):
            return LEVEL["unary"]
    return LEVEL["postfix"]


def operand_levels(operator: str) -> tuple[int, int]:
    """What the left and the right operand must bind as tightly as: equal levels group to the left, `**` to the
    right, and comparisons do not chain."""
    level = LEVEL[operator]
    if operator == "**":
        return level + 1, LEVEL["unary"]
    return (level + 1 if level == LEVEL["=="] else level), level + 1


def flat(node: tree.Expr, level: int = 0) -> str:
    """The expression on one line, in parentheses where it binds less tightly than `level`."""
    text = _flat(node)
    return f"({text})" if level_of(node) < level else text


def _flat(node: tree.Expr) -> str:
    postfix = LEVEL["postfix"]
    match node:
        case tree.Name(id=name):
            return name
        case tree.Literal():
            return literal(node)
        case tree.ListOf(items=items):
            return f"[{', '.join(flat(item) for item in items)}]"
        case tree.For():
            return f"[for {node.name} in {flat(node.over)}: {flat(node.body)}]"
        case tree.Repeat(items=items):
            return f"repeat {flat(items)}"
        case tree.Call(function=function, arguments=arguments):
            return f"{flat(function, postfix)}({', '.join(argument(a) for a in arguments)})"
        case tree.Attribute(object=owner, name=name):
            return f"{_owner(owner)}.{name}"
        case tree.Index(object=owner, index=index):
            return f"{_owner(owner)}[{flat(index)}]"
        case tree.Unary(operator=operator, operand=operand):
            return f"{operator}{flat(operand, LEVEL['unary'])}"
        case tree.Binary(operator=operator, left=left, right=right):
            left_level, right_level = operand_levels(operator)
            return f"{flat(left, left_level)} {operator} {flat(right, right_level)}"
        case tree.If():
            return f"if {flat(node.condition, 1)} then {flat(node.yes)} else {flat(node.no)}"
        case tree.Match(subject=subject, arms=arms):
            return f"match {flat(subject, postfix)} {{ {'  '.join(_arm(a) + flat(a.value) for a in arms)} }}"
    raise TypeError(f"no expression of specc: {type(node).__name__}")


def _owner(node: tree.Expr) -> str:
    """What a `.name` or `[index]` follows; a number or a string stands in parentheses for the reader's sake."""
    return f"({flat(node)})" if isinstance(node, tree.Literal) else flat(node, LEVEL["postfix"])


def _arm(arm: tree.Arm) -> str:
    return f"{literal(arm.pattern) if arm.pattern else 'else'}: "


def argument(node: tree.Argument) -> str:
    return flat(node.value) if node.name is None else f"{node.name}: {flat(node.value)}"


def literal(node: tree.Literal) -> str:
    value = node.value
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(value)
    return node.text or number(value)


def quoted(text: str) -> str:
    """A string as it is written. A text that no spelling of the language can hold is refused."""
    if '"' in text or "\n" in text:
        raise ValueError(f"no string of specc can hold a double quote or a line break: {text!r}")
    return f'"{text}"'


def number(value: int | float) -> str:
    """A number as it is written best: `500_000`, `1e-5`, `2.0`."""
    if isinstance(value, int):
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    mantissa, e, exponent = repr(value).partition("e")
    if mantissa.strip("-") in ("inf", "nan"):
        raise ValueError(f"no number of specc can be {value}")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def wrapped(node: tree.Expr, indent: str, room: int, operator: str = "") -> str:
    """The expression in lines. The first has `room` columns, what follows is indented one step from `indent`;
    `operator` names the level that its place asks for."""
    level = LEVEL.get(operator, 0)
    line = flat(node, level)
    if len(line) <= room:
        return line
    if level_of(node) < level:
        return f"({_bracketed([node], indent, '')})"
    match node:
        case tree.Call(function=function, arguments=arguments) if arguments:
            return f"{flat(function, LEVEL['postfix'])}({_bracketed(arguments, indent, ',')})"
        case tree.ListOf(items=items) if items:
            return f"[{_bracketed(items, indent, ',')}]"
        case tree.Repeat(items=items):
            return f"repeat {wrapped(items, indent, room - len('repeat '))}"
        case tree.Binary():
            return _chain(node, indent, room)
        case tree.If():
            inner = indent + _INDENT
            parts = (("then", node.yes), ("else", node.no))
            rest = [f"{inner}{word} {wrapped(part, inner, WIDTH - len(inner) - len(word) - 1)}" for word, part in parts]
            return "\n".join([f"if {wrapped(node.condition, indent, room - len('if '), '|')}", *rest])
        case tree.Match(subject=subject, arms=arms):
            inner = indent + _INDENT
            heads = [inner + _arm(arm) for arm in arms]
            rest = [head + wrapped(arm.value, inner, WIDTH - len(head)) for head, arm in zip(heads, arms, strict=True)]
            return "\n".join([f"match {flat(subject, LEVEL['postfix'])} {{", *rest, f"{indent}}}"])
    return line


def _bracketed(parts: Sequence[tree.Expr | tree.Argument], indent: str, comma: str) -> str:
    """What stands between brackets, one part per line."""
    inner = indent + _INDENT
    lines = []
    for part in parts:
        name = f"{part.name}: " if isinstance(part, tree.Argument) and part.name else ""
        value = part.value if isinstance(part, tree.Argument) else part
        lines.append(f"{inner}{name}{wrapped(value, inner, WIDTH - len(inner) - len(name) - len(comma))}{comma}")
    return "\n" + "\n".join(lines) + f"\n{indent}"


def _chain(node: tree.Binary, indent: str, room: int) -> str:
    """A row of operators of one level, each on a line of its own. The row is walked, not recursed into."""
    inner = indent + _INDENT
    level = LEVEL[node.operator]
    rest: list[str] = []
    first: tree.Expr = node
    left_level = level
    while isinstance(first, tree.Binary) and LEVEL[first.operator] == level:
        before = f"{inner}{first.operator} "
        rest.append(before + _operand(first.right, operand_levels(first.operator)[1], inner, WIDTH - len(before)))
        left_level = operand_levels(first.operator)[0]
        first = first.left
        if level_of(first) < left_level:
            break
    return "\n".join([_operand(first, left_level, indent, room), *reversed(rest)])


def _operand(node: tree.Expr, level: int, indent: str, room: int) -> str:
    if level_of(node) < level:
        line = flat(node, level)
        return line if len(line) <= room else f"({_bracketed([node], indent, '')})"
    return wrapped(node, indent, room)
