"""What a template sees of a component: its fields as they are to be printed, and the components in its slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from specc.backends.torch.contract import SHAPED
from specc.backends.torch.environment import component as macros_of
from specc.backends.torch.numbers import Constants, Number, Owner, argument, literal
from specc.components.registry import AXES
from specc.ir.node import Component, Dims


def is_number(cls: type[Component], name: str, value: Any) -> bool:
    """Whether a field may differ between places that share one class. Anything else decides which lines are printed."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (name not in cls.model_fields or not cls.is_structural(name))


def structure(component: Component | None) -> tuple | None:
    """Equal for components that one class can print, with their numbers as its arguments."""
    if component is None:
        return None
    cls, parts = type(component), [component.axis, component.kind]
    for name in cls.model_fields:
        value = getattr(component, name)
        if isinstance(value, Component):
            parts.append(structure(value))
        elif is_number(cls, name, value):
            parts.append(int)
        else:
            parts.append(value)
    return tuple(parts)


@dataclass(slots=True)
class Page:
    """The file being written: its constants, and the definitions that what is printed turns out to need."""

    constants: Constants
    padded: bool = True  # whether rows may hold padding, of which `attention_mask` tells
    definitions: dict[str, dict[str, None]] = field(default_factory=lambda: {axis: {} for axis in AXES})
    titles: dict[str, dict[Any, str]] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    matrix_norms: dict[str, None] = field(default_factory=dict)  # the classes of norms that hold more than a vector
    losses: dict[str, None] = field(default_factory=dict)  # the classes that add to the training loss
    tokens: str = "self.embed_tokens"  # the module of the token table, as the model's own class names it
    same: dict[str, str] = field(default_factory=dict)  # the text of a class, its name left out, and that name

    def declare(self, component: Component) -> None:
        """Makes the numbers of a component, and of those in its slots, known as candidates for constants."""
        cls = type(component)
        for name in cls.model_fields:
            value = getattr(component, name)
            if isinstance(value, Component):
                self.declare(value)
            elif is_number(cls, name, value):
                self.constants.declare(names_of(component, name), value, line=LINES.get(component.axis, component.axis))

    def define(self, axis: str, text: str) -> None:
        if text := text.strip():
            self.definitions[axis][text] = None

    def taken(self, axis: str, text: str) -> bool:
        """Whether another class or function has the name of this one."""
        text, name = text.strip(), text.strip().partition("(")[0]
        return any(made.partition("(")[0] == name for made in self.definitions[axis] if made != text)

    def suffix(self, axis: str, text: Callable[[str], str]) -> str:
        """What follows the name of a helper function: nothing, or a number where another one of that name says something else."""
        for number in count(1):
            suffix = f"_{number}" if number > 1 else ""
            made = text(suffix).strip()
            known = {defined.partition("(")[0] for defined in self.definitions[axis]}
            if made in self.definitions[axis] or made.partition("(")[0] not in known or text("_0").strip() == made:
                return suffix
        raise AssertionError(axis)

    def title(self, title: str, what: Any) -> str:
        """The name of a class: its title, with a number where another class has that. `what` tells classes apart."""
        known = self.titles.setdefault(title, {})
        if what not in known:
            known[what] = next(name for n in count(1) if (name := f"{title}{n if n > 1 else ''}") not in self.classes)
            self.classes.add(known[what])
        return known[what]

    def like(self, name: str, text: str) -> str | None:
        """The name of a class of the same text, None where there is none."""
        return self.same.get(text.strip().replace(f"class {name}(", "class _(", 1))

    def known(self, name: str, text: str) -> None:
        """Remembers a class by its text, so that a part which would print the same can use it."""
        self.same[text.strip().replace(f"class {name}(", "class _(", 1)] = name

    def part(self, title: str, prefix: str, text: str) -> str:
        """The name of a class for a part of another: its title, with the part's name in front where another class has that."""
        name = self.title(title if title not in self.classes else prefix + title, ("part", text))
        self.same[text.strip()] = name
        return name

    def number(self, names: tuple[str, ...], values: tuple[int | float, ...], owner: Owner, argument: str) -> Number:
        """A number of something that `owner` prints, one value per occurrence of it."""
        named = self.constants.named(names, values)
        if named is not None:
            return named
        if owner.absorbs or len(set(values)) > 1:
            return Number(values, argument, owner=owner)
        return Number(values, literal(values[0]))


LINES = {
    axis: f"{rank} {axis}"
    for rank, axis in enumerate(("attention", "ffn", "position", "scaling", "mask", "norm", "activation", "embed", "head"))
}


def names_of(component: Component, field: str) -> tuple[str, ...]:
    """The constants that a field may be printed as."""
    given = getattr(macros_of(component.axis, component.kind), "names", {}).get(field, f"{component.kind}_{field}".upper())
    return (given,) if isinstance(given, str) else tuple(given)


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


class View:
    """Equal components in all the places that one class or function prints."""

    def __init__(
        self,
        page: Page,
        components: tuple[Component, ...],
        owner: Owner,
        dims: Dims,
        prefix: str = "",
        name: str = "",
        beside: tuple[Component, ...] = (),
    ) -> None:
        self._page, self._components, self._owner, self._dims, self._prefix = page, components, owner, dims, prefix
        self._beside = beside
        self._macros = macros_of(components[0].axis, components[0].kind)
        self.name = name

    def __getattr__(self, field: str) -> Any:
        if field.startswith("_"):
            raise AttributeError(field)
        for components, prefix in ((self._components, self._prefix), (self._beside, "")):
            if components and _has(type(components[0]), field):
                return self._field(components, field, prefix)
        raise AttributeError(f"{self._components[0].kind} has no field {field}")

    def _field(self, components: tuple[Component, ...], field: str, prefix: str) -> Any:
        first, values = components[0], tuple(getattr(c, field) for c in components)
        if isinstance(values[0], Component):
            return View(self._page, values, self._owner, self._dims, f"{prefix}{field}_")
        if is_number(type(first), field, values[0]):
            return self._page.number(names_of(first, field), values, self._owner, prefix + field)
        return values[0]

    def macro(self, macro: str, *arguments: Any) -> str:
        return str(getattr(self._macros, macro)(self, *arguments))

    def lines(self, macro: str, *arguments: Any) -> list[str]:
        """What a macro prints, line by line."""
        return [line for line in self.macro(macro, *arguments).split("\n") if line.strip()]

    def construct(self, *arguments: Any) -> str:
        """The expression that makes it a module; its class, if it needs one, joins the file."""
        if self._components[0].axis in SHAPED and not self.name:
            self.name = self._page.title(self.macro("title"), self.macro("definition", *arguments))  # the class, but for its name
            if len(arguments[0]) > 1:
                self._page.matrix_norms[self.name] = None
        self._define(*arguments)
        return self.macro("construct", *arguments).strip()

    def apply(self, *arguments: Any) -> str:
        """The expression that applies it; a helper function, if it needs one, joins the file."""
        self._define()
        return self.macro("apply", *arguments).strip()

    def module(self, *arguments: Any) -> str:
        """The expression that makes a component of a slot that is a class of its own; the class joins the file."""
        owner = Owner(absorbs=True)
        made = View(self._page, self._components, owner, self._dims)
        made.name = "_"
        handed = {a.text: a for a in arguments if isinstance(a, Number) and a.owner is not None}  # arguments of the class around it
        arguments = tuple(replace(a, owner=owner) if a in handed.values() else a for a in arguments)
        made.macro("definition", *arguments)  # the first time told what it has to be given
        text = made.macro("definition", *arguments)
        made.name = self._page.same.get(text.strip()) or self._page.part(self.macro("title").strip(), camel(self._prefix), text)
        self._page.define(self._components[0].axis, made.macro("definition", *arguments))
        if any(component.adds_loss for component in self._components):
            self._page.losses[made.name] = None
        given = {
            name: handed.get(name) or self._page.number((), values, self._owner, self._prefix + name)
            for name, values in owner.arguments.items()
        }
        return f"{made.name}({', '.join(f'{name}={number}' for name, number in given.items())})"

    def _define(self, *arguments: Any) -> None:
        self._page.define(self._components[0].axis, self.macro("definition", *arguments))

    def same(self, one: str, other: str) -> bool:
        """Whether two of its fields hold the same in every place."""
        return all(getattr(c, one) == getattr(c, other) for c in self._components)

    def is_default(self, field: str) -> bool:
        """Whether a field holds in every place what it would hold if the spec did not state it."""
        return all(getattr(c, field) == _default(c, field, self._dims) for c in self._components)

    @property
    def padded(self) -> bool:
        """Whether rows may hold padding, so that there is an `attention_mask`."""
        return self._page.padded

    @property
    def width_in(self) -> str:
        """The width of what comes in."""
        return str(self._page.number(("WIDTH", "EMBED_WIDTH"), (self._dims.dim,), Owner(), "width"))

    @property
    def memory_width(self) -> str:
        """The width of the encoder's output, where that comes in beside."""
        return str(self._page.number(("WIDTH", "EMBED_WIDTH"), (self._dims.memory or self._dims.dim,), Owner(), "width"))

    @property
    def table(self) -> str:
        """The token table, as a head reads it."""
        return f"{self._page.tokens}.weight"

    @property
    def arguments(self) -> list[str]:
        """The definition's arguments: every number that it prints and that is not the same everywhere."""
        return [argument(name, values) for name, values in self._owner.arguments.items()]

    @property
    def signature(self) -> str:
        return ", ".join(["self", *self.arguments])

    @property
    def kept(self) -> list[str]:
        """The arguments that `forward` needs."""
        return list(self._owner.kept)

    @property
    def passed(self) -> str:
        """The arguments of its function at one place: `, theta=10_000.0`."""
        return "".join(f", {name}={literal(values[0])}" for name, values in self._owner.arguments.items())


def _has(cls: type[Component], name: str) -> bool:
    """Whether a component has a field, a property or a constant of its class of this name."""
    return name in cls.model_fields or name in cls.__class_vars__ or isinstance(getattr(cls, name, None), property)


def _default(component: Component, field: str, dims: Dims) -> Any:
    cls = type(component)
    given = {name: getattr(component, name) for name in cls.model_fields if name not in ("kind", field)}
    return cls.complete(given, dims).get(field, cls.model_fields[field].default)
