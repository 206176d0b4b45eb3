"""What a name means where it stands: documentation, and where the model is whole, sizes, shapes and counts."""

from __future__ import annotations

from dataclasses import dataclass

from specc.resolve.components import words
from specc.resolve.functions import FUNCTIONS
from specc.resolve.values import Constructor, LayerRef, Record, Repeated, Run, Symbol
from specc.source import Source
from specc.tools.editor import describe, wording
from specc.tools.editor.analysis import Analysis
from specc.tools.editor.context import argument_of, axes_at, axes_of_field, component_named, component_of
from specc.tools.editor.cursor import cursor
from specc.tools.editor.names import Names
from specc.tools.editor.outline import Frame, Occurrence
from specc.tools.editor.project import Project
from specc.tools.editor.values import component_at, model_at, placed, value_of
from specc.tools.spell import spell


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about a range of the text."""

    text: str
    start: int
    end: int


def hover(project: Project, analysis: Analysis, offset: int) -> Hover | None:
    """What there is to say about the name at an offset."""
    outline = project.outline(analysis.path)
    found = outline.at(offset)
    if found is None:
        return None
    at = cursor(outline.text[: found.start])
    paragraphs = _Reader(project, analysis, at.frame if at else found.frame).about(found)
    return Hover("\n\n".join(paragraphs), found.start, found.end) if paragraphs else None


@dataclass(slots=True)
class _Reader:
    """`frame`: what is being read where the name begins."""

    project: Project
    analysis: Analysis
    frame: Frame

    def about(self, found: Occurrence) -> list[str]:
        match found.kind:
            case "model":
                return self._model(found)
            case "layer":
                return self._layer(found.name, found)
            case "block":
                return self._block(found)
            case "field" if found.defines:
                return self._field(found)
            case "argument":
                return self._argument(found)
            case "call" | "word":
                return self._name(found)
            case "file":
                return [f"`{Names(self.project, self.analysis.path).definitions(found)[0].path.name}`"]
        return []

    def _model(self, found: Occurrence) -> list[str]:
        resolved = self.analysis.models.get(found.name)
        if resolved is None:
            return [f"model `{found.name}`"]
        return [f"**{found.name}**", *([resolved.model.doc] if resolved.model.doc else []), describe.model(resolved.model)]

    def _layer(self, name: str, found: Occurrence) -> list[str]:
        resolved = model_at(self.analysis, found.frame)
        return [f"layer `{name}`", *([text] if resolved and (text := describe.layers(resolved.model, name)) else [])]

    def _block(self, found: Occurrence) -> list[str]:
        return self._block_text(found) or [f"block `{found.name}`"]

    def _block_text(self, found: Occurrence) -> list[str]:
        """A block's own text: its formula says all there is to say."""
        for place in Names(self.project, self.analysis.path)._block(found)[:1]:
            outline = self.project.outline(place.path)
            frame = next(f for f in outline.sections("block", found.name) if f.start <= place.start < f.opened)
            doc = _doc_above(outline.text, frame.start)
            return [*([doc] if doc else []), f"```specc\n{outline.text[frame.start : frame.end]}}}\n```"]
        return []

    def _field(self, found: Occurrence) -> list[str]:
        doc = wording.field_doc(found.path)
        told = [f"`{found.path}`" + (f": {doc}" if doc else "")]
        try:
            value = value_of(self.analysis, found.frame, found.path)
        except LookupError:
            return told
        return told + self._value(value, found)

    def _value(self, value, found: Occurrence) -> list[str]:
        """A field's value: the component in full, or the plain value."""
        if isinstance(value, (Constructor, Symbol)) and (axes := axes_of_field(found.path)):
            component = component_at(self.analysis, found.frame, value.span.start, axes)
            resolved = model_at(self.analysis, found.frame)
            if component is not None and resolved is not None:
                return [describe.component(component), *describe.instances(placed(resolved, component, found.path.partition(".")[0]))]
        if isinstance(value, (Constructor, Symbol, Record, LayerRef, Run, Repeated)) or (
            isinstance(value, list) and found.path == "layers"
        ):
            resolved = model_at(self.analysis, found.frame)
            return [describe.layout(resolved.model)] if found.path == "layers" and resolved else []
        return [f"`{spell(value)}`"]

    def _argument(self, found: Occurrence) -> list[str]:
        cls = component_of(self.frame)
        if cls is None or found.name not in cls.model_fields:
            return []
        lines = [f"`{found.name}`: {wording.type_of(cls, found.name)}"]
        default = wording.default_of(cls, found.name)
        lines += [f"By default `{default}`."] if default else ["Must be given, or follows from the other fields."]
        call = self.frame
        component = component_at(self.analysis, found.frame, call.opened - 1 - len(call.name), axes_at(call.parent) or self._axes(cls))
        if component is not None:
            lines.append(f"Here `{spell(getattr(component, found.name))}`.")
        return [*lines, wording.component_doc(cls)]

    @staticmethod
    def _axes(cls) -> tuple[str, ...]:
        return (cls.axis,)

    def _name(self, found: Occurrence) -> list[str]:
        """A variant, a fact, a function, a block, a layer, or a field of the model."""
        call = component_of(self.frame)
        field = argument_of(self.frame, call) if call is not None else None
        if call is not None and field and found.kind == "word" and found.name in words(call.model_fields[field].annotation):
            return [f"`{found.name}`: a value of `{field}`", wording.component_doc(call)]
        if self.frame.section() is not None and self.frame.section().kind == "checks":
            return self._fact(found)
        if found.field == "block" and (text := self._block_text(found)):
            return text
        if found.field == "layers" and found.frame.section("model") and found.kind == "word":
            return self._layer(found.name, found)
        cls = component_named(found.name, self.frame)
        bound = found.kind == "word" and Names(self.project, self.analysis.path).definitions(found)
        if cls is not None and not bound:
            return self._variant(cls, found)
        if bound:
            return self._bound(found)
        if found.kind == "call" and found.name in FUNCTIONS:
            doc = (FUNCTIONS[found.name].__doc__ or "").strip().partition("\n\n")[0]
            return [f"function `{found.name}`", *([doc] if doc else [])]
        return []

    def _fact(self, found: Occurrence) -> list[str]:
        resolved = model_at(self.analysis, found.frame)
        text = describe.fact(resolved, found.start) if resolved is not None else ""
        return [text or f"`{found.name}`"]

    def _bound(self, found: Occurrence) -> list[str]:
        try:
            value = value_of(self.analysis, found.frame, found.name)
        except LookupError:
            return [f"`{found.name}`"]
        shown = "" if isinstance(value, (Constructor, Symbol, Record, LayerRef, Run, Repeated)) else f" = `{spell(value)}`"
        doc = wording.field_doc(found.name)
        return [f"`{found.name}`{shown}", *([doc] if doc else [])]

    def _variant(self, cls, found: Occurrence) -> list[str]:
        component = component_at(self.analysis, found.frame, found.start, axes_at(self.frame) or (cls.axis,))
        told = [f"**{found.name}** ({cls.axis})", wording.component_doc(cls)]
        resolved = model_at(self.analysis, found.frame)
        if component is None or resolved is None:
            return [*told, describe.fields_taken(cls)]
        return [*told, describe.component(component), *describe.instances(placed(resolved, component, found.field.partition(".")[0]))]


def _doc_above(text: str, start: int) -> str:
    """The `##` lines right above a place."""
    lines = Source("", text[:start]).text.rstrip().splitlines()
    found: list[str] = []
    while lines and lines[-1].lstrip().startswith("##"):
        found.insert(0, lines.pop().strip().lstrip("#").strip())
    return " ".join(found)
