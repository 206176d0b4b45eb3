"""Numbers in generated code: a constant where all of the model agrees, else a literal or an argument."""

from __future__ import annotations

from dataclasses import dataclass, field

SIZES = (("VOCAB", "CONTEXT"), ("LAYERS", "ENCODER_LAYERS", "DECODER_LAYERS", "WIDTH"))  # each a line at the top of the file, printed in any case


def literal(value: int | float | str | None) -> str:
    """A number, a string or None as Python writes it, with underscores from 1,000 on."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value is None:
        return "None"
    return f"{value:_}".replace("e-0", "e-").replace("e+0", "e")


def argument(name: str, values: tuple[int | float, ...]) -> str:
    """An argument of a definition, with its type."""
    return f"{name}: {'float' if any(isinstance(value, float) for value in values) else 'int'}"


@dataclass(slots=True)
class Owner:
    """A class or function being printed. `arguments` holds each number it must be given: a value for every occurrence."""

    absorbs: bool = False  # whether a number that others use with another value becomes an argument, even if it is one value here
    arguments: dict[str, tuple[int | float, ...]] = field(default_factory=dict)
    kept: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Number:
    """A number as a template prints it."""

    values: tuple[int | float, ...]
    text: str
    owner: Owner | None = None  # whose argument it is
    constants: Constants | None = None  # among which it has a name

    def __str__(self) -> str:
        """In `__init__`, or in a function."""
        if self.owner is not None:
            self.owner.arguments[self.text] = self.values
        if self.constants is not None:
            self.constants.used[self.text] = None
        return self.text

    @property
    def kept(self) -> str:
        """In `forward`."""
        if self.owner is None:
            return str(self)
        self.owner.kept[str(self)] = None
        return f"self.{self.text}"

    @property
    def value(self) -> int | float | None:
        """The number itself, None where it differs from layer to layer."""
        return self.values[0] if len(set(self.values)) == 1 else None


class Constants:
    """The names at the top of the file. A name that the model uses with two values is none."""

    def __init__(self, **sizes: int | None) -> None:
        self.sizes = {name: value for name, value in sizes.items() if value is not None}
        self.found: dict[str, dict[int | float, None]] = {}
        self.lines: dict[str, str] = {}  # name -> the line it stands on
        self.used: dict[str, None] = {}

    def declare(self, names: tuple[str, ...], value: int | float, line: str) -> None:
        """One occurrence of a number that goes by the first of these names that suits it."""
        if any(self.sizes.get(name) == value for name in names):
            return
        for name in names:
            if not self._is_size(name):
                self.found.setdefault(name, {})[value] = None
                self.lines.setdefault(name, line)

    def named(self, names: tuple[str, ...], values: tuple[int | float, ...]) -> Number | None:
        """The number under its name, where it has one."""
        if len(set(values)) != 1:
            return None
        for name in names:
            if self.sizes.get(name) == values[0]:
                return Number(values, name)
            if list(self.found.get(name, ())) == [values[0]] and not self._is_size(name):
                return Number(values, name, constants=self)
        return None

    @staticmethod
    def _is_size(name: str) -> bool:
        return any(name in line for line in SIZES)

    def text(self) -> list[str]:
        """The assignments, what belongs together on one line."""
        lines: dict[str, list[str]] = {}
        for name in self.found:
            if name in self.used:
                lines.setdefault(self.lines[name], []).append(name)
        table = self.sizes | {name: next(iter(values)) for name, values in self.found.items()}
        groups = [[name for name in line if name in self.sizes] for line in SIZES] + [lines[line] for line in sorted(lines)]
        return [line for names in groups if names for line in _assigned(names, table)]


def _assigned(names: list[str], table: dict[str, int | float]) -> list[str]:
    """Names and their values on one line, or on two where one would be too long."""
    line = f"{', '.join(names)} = {', '.join(literal(table[name]) for name in names)}"
    if len(line) <= 120 or len(names) == 1:
        return [line]
    half = (len(names) + 1) // 2
    return _assigned(names[:half], table) + _assigned(names[half:], table)
