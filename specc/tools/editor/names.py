"""Where a name is bound: the places to go to, and the one place that all of its uses share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specc.tools.editor.outline import Frame, Occurrence
from specc.tools.editor.project import Project

HOLDERS = ("layer", "encoder", "decoder", "model")  # sections whose statements are fields
MOST_BASES = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A range of a file."""

    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Names:
    """Looks names up for one file and those that it uses."""

    project: Project
    path: Path

    def definitions(self, found: Occurrence) -> list[Place]:
        """Where the name is bound, the nearest place first; nothing for a name of the language itself."""
        match found.kind:
            case "file":
                return [Place((self.path.parent / found.name).resolve(), 0, 0)]
            case "model":
                return [place for place, _ in self._sections("model", found.name)]
            case "label":
                return self._labels(found)
            case "argument":
                return []
        lookups = (self._variable, self._local, self._field, self._layer, self._block)
        return next((places for lookup in lookups if (places := lookup(found))), [])

    def origins(self, found: Occurrence) -> frozenset[Place]:
        """What two occurrences of one thing have in common: where its name is bound first, in the base that all others extend."""
        places = self.definitions(found)
        if found.kind in ("model", "block", "label", "file") or not places:
            return frozenset(places[:1])
        if self.is_local(found):
            return frozenset(places[-1:])
        owners = [(self.path, model)] if (model := found.frame.section("model")) else self._users(found)
        roots = (self._root(path, model, found.name) for path, model in owners)
        return frozenset(root for root in roots if root is not None) or frozenset(places[:1])

    def is_local(self, found: Occurrence) -> bool:
        """Whether a name is bound by a block, a `for`, or as a family's config."""
        return bool(self._variable(found) or self._local(found))

    # ---- the kinds of names, innermost first

    def _variable(self, found: Occurrence) -> list[Place]:
        """Of `for`, or the config of a family."""
        bound = [o for o in self.project.outline(self.path).occurrences if o.kind == "variable" and o.defines and o.name == found.name]
        around = (o for frame in found.frame.outwards() for o in bound if o.frame is frame)
        return [Place(self.path, o.start, o.end) for o in around][:1]

    def _local(self, found: Occurrence) -> list[Place]:
        """Of a block: the latest binding up to this place, and those before it."""
        block = found.frame.section("block")
        if block is None or found.kind == "call":
            return []
        bound = [
            Place(self.path, o.start, o.end)
            for o in self.project.outline(self.path).occurrences
            if o.kind == "local" and o.defines and o.name == found.name and o.frame is block and o.start <= found.start
        ]
        return bound[::-1]

    def _field(self, found: Occurrence) -> list[Place]:
        """Of the model around, or of a base of it; for a block of its own, of every model that takes that block."""
        in_block = found.frame.section("block") is not None
        if found.kind == "call" and not in_block and not (found.field == "embed" and found.frame.section("model") is not None):
            return []  # a constructor is a variant, whatever the model calls by its name
        if found.kind == "part" and found.frame.section("weights") is None:
            return []
        model = found.frame.section("model")
        if model is not None:
            return self._of_model(self.path, model, found.name, found.frame)
        return [place for path, m in self._users(found) for place in self._of_model(path, m, found.name, m)]

    def _users(self, found: Occurrence) -> list[tuple[Path, Frame]]:
        """The models whose `block` is the one around this place."""
        block = found.frame.section("block")
        if block is None or found.kind not in ("call", "word"):
            return []
        chosen = (
            (path, model)
            for path in self.project.users(self.path)
            for o in self.project.outline(path).occurrences
            if o.kind == "word" and o.name == block.name and o.field == "block" and (model := o.frame.section("model"))
        )
        return list(chosen)

    def _of_model(self, path: Path, model: Frame, name: str, inside: Frame) -> list[Place]:
        """Where a model binds a field: in the section around, then its own, then its bases', nearest first."""
        around = set(map(id, inside.outwards()))
        places: list[Place] = []
        for here, frame in self.chain(path, model):
            bound = self.bound("field", here, frame, name)
            bound.sort(key=lambda o: (o.path != name, id(o.frame) not in around, o.frame.kind == "model", o.start))
            places += [Place(here, o.start, o.end) for o in bound]
        return places

    def _layer(self, found: Occurrence) -> list[Place]:
        model = found.frame.section("model")
        if model is None or found.kind not in ("word", "layer"):
            return []
        chain = self.chain(self.path, model)
        return [Place(here, o.start, o.end) for here, frame in chain for o in self.bound("layer", here, frame, found.name)]

    def _block(self, found: Occurrence) -> list[Place]:
        is_block = found.kind == "block" or (found.kind == "word" and found.field == "block")
        return [place for place, _ in self._sections("block", found.name)] if is_block else []

    def _labels(self, found: Occurrence) -> list[Place]:
        """`norm.after` in a layer or a model: the call in the block that makes the instance."""
        holder = found.frame.section(*HOLDERS, "block")
        if holder is None or holder.kind == "block":
            return []
        return [
            Place(path, o.start, o.end)
            for path in self.project.used(self.path)
            for o in self.project.outline(path).occurrences
            if o.kind == "label" and o.path == found.path and o.frame.section("block") is not None
        ]

    # ---- models and what they extend

    def chain(self, path: Path, model: Frame) -> Iterator[tuple[Path, Frame]]:
        """A model, what it extends, and so on."""
        seen: list[Frame] = []
        while model not in seen and len(seen) < MOST_BASES:
            seen.append(model)
            yield path, model
            base = next(Names(self.project, path)._sections("model", model.extends), None) if model.extends else None
            if base is None:
                return
            path, model = base[0].path, base[1]

    def bound(self, kind: str, path: Path, model: Frame, name: str | None = None) -> list[Occurrence]:
        """Where one model binds a name, or any name, its sections included."""
        found = (o for o in self.project.outline(path).occurrences if o.kind == kind and o.defines and name in (None, o.name))
        return [o for o in found if o.frame.section("model") is model]

    def _root(self, path: Path, model: Frame, name: str) -> Place | None:
        """The first binding in the furthest base that has one."""
        for here, frame in reversed(list(self.chain(path, model))):
            if bound := self.bound("field", here, frame, name) + self.bound("layer", here, frame, name):
                return Place(here, bound[0].start, bound[0].end)
        return None

    def _sections(self, kind: str, name: str) -> Iterator[tuple[Place, Frame]]:
        """Sections of this kind and name: of the file, of those that it uses, of the prelude."""
        for path in self.project.used(self.path):
            outline = self.project.outline(path)
            for o in outline.occurrences:
                if o.kind == kind and o.defines and o.name == name:
                    frame = next((f for f in outline.sections(kind, name) if f.start <= o.start < f.opened), None)
                    if frame is not None:
                        yield Place(path, o.start, o.end), frame
