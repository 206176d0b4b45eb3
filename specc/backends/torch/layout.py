"""Line breaks as the formatter would set them, for the few lines that outgrow the width."""

from __future__ import annotations

WIDTH = 120
_CLOSING = {")": "(", "]": "[", "}": "{"}


def fit(text: str) -> str:
    """`text` with every overlong line of code broken at its last bracket; comments and docstrings are left alone."""
    lines, in_docstring = [], False
    for line in text.split("\n"):
        quotes = line.count('"""')
        if len(line) <= WIDTH or in_docstring or quotes or line.lstrip().startswith("#"):
            lines.append(line)
        else:
            lines += _broken(line)
        in_docstring ^= quotes % 2 == 1
    return "\n".join(lines)


def _broken(line: str) -> list[str]:
    code, hash_, comment = line.partition("  # ")
    if hash_ and len(code) <= WIDTH:
        return [line]
    close = code.rfind(")") if code.lstrip().startswith("def ") else max(code.rfind(c) for c in _CLOSING)
    start = _opening(code, close)
    if start is None or close == start + 1:
        return [line]
    indent = " " * (len(code) - len(code.lstrip()) + 4)
    head, inner, tail = code[: start + 1] + (hash_ + comment), code[start + 1 : close], code[close:]
    is_call = code[start] == "(" and (code[start - 1].isalnum() or code[start - 1] in "_])")
    if is_call and len(indent + inner) <= WIDTH and not inner.endswith(","):
        return [head, indent + inner, indent[4:] + tail]
    items = _items(inner)
    if len(items) == 1 and (is_call or code[start] == "(" and not inner.endswith(",")):
        return [head, *fit(indent + items[0]).split("\n"), indent[4:] + tail]
    return [head, *(broken for item in items for broken in fit(f"{indent}{item},").split("\n")), indent[4:] + tail]


def _opening(code: str, close: int) -> int | None:
    """Where the bracket that closes at `close` opens; brackets inside strings are skipped."""
    stack: list[int] = []
    quote = ""
    for at, character in enumerate(code[: close + 1]):
        if quote:
            quote = "" if character == quote and code[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in _CLOSING.values():
            stack.append(at)
        elif character in _CLOSING and stack:
            opened = stack.pop()
            if at == close:
                return opened
    return None


def _items(inner: str) -> list[str]:
    """The parts between the commas of the outermost level."""
    items, depth, quote, start = [], 0, "", 0
    for at, character in enumerate(inner):
        if quote:
            quote = "" if character == quote and inner[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and not depth:
            items.append(inner[start:at].strip())
            start = at + 1
    return [*items, inner[start:].strip()] if inner[start:].strip() else items
