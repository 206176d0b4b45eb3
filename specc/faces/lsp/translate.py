"""From specc's answers to the protocol's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lsprotocol import types

from specc.diagnostics.finding import Diagnostic
from specc.faces.lsp.positions import Lines
from specc.source import Source, Span
from specc.tools.editor.complete import Completion
from specc.tools.editor.outline import Frame, Outline

Where = Callable[[Span], types.Location]
SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
FADED = ("LNT001", "LNT004")  # of no use: shown in grey
KINDS = {
    "argument": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "variant": types.CompletionItemKind.Constructor,
    "field": types.CompletionItemKind.Field,
    "name": types.CompletionItemKind.Variable,
    "fact": types.CompletionItemKind.Constant,
    "file": types.CompletionItemKind.File,
    "function": types.CompletionItemKind.Function,
    "keyword": types.CompletionItemKind.Keyword,
}  # in the order in which they are offered
SYMBOLS = {
    "model": types.SymbolKind.Class,
    "block": types.SymbolKind.Function,
    "layer": types.SymbolKind.Struct,
    "adapter": types.SymbolKind.Class,
    "encoder": types.SymbolKind.Namespace,
    "decoder": types.SymbolKind.Namespace,
    "weights": types.SymbolKind.Object,
    "checks": types.SymbolKind.Event,
}


def diagnostic(found: Diagnostic, source: Source, lines: Lines, where: Where) -> types.Diagnostic:
    """A finding at its place; what is about no place is told on the first line."""
    inside = found.span is not None and found.span.source is source
    place = lines.range(found.span.start, found.span.end) if inside else lines.range(0, 0)
    notes = [types.DiagnosticRelatedInformation(where(span), text) for span, text in found.notes]
    return types.Diagnostic(
        range=place,
        message=f"{found.message}\n{found.help}" if found.help else found.message,
        severity=SEVERITY[found.severity],
        code=found.code,
        source="specc",
        tags=[types.DiagnosticTag.Unnecessary] if found.code in FADED else None,
        related_information=notes or None,
    )


def completion(found: Completion, place: types.Range, snippets: bool) -> types.CompletionItem:
    text = found.insert if snippets else found.insert.replace("$0", "").rstrip("()")
    order = list(KINDS).index(found.kind)
    return types.CompletionItem(
        label=found.label,
        kind=KINDS[found.kind],
        detail=found.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, found.doc) if found.doc else None,
        sort_text=f"{order}{found.label}" if found.kind not in ("argument", "field") else f"{order}",
        filter_text=found.label,
        insert_text_format=types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText,
        text_edit=types.TextEdit(place, text),
    )


def symbols(outline: Outline, lines: Lines) -> list[types.DocumentSymbol]:
    """The sections of a file, one inside the other."""
    found: list[types.DocumentSymbol] = []
    by_frame: dict[int, types.DocumentSymbol] = {}
    for frame in outline.frames:
        if frame.kind not in SYMBOLS:
            continue
        place = lines.range(frame.start, min(frame.end + 1, len(outline.text)))
        symbol = types.DocumentSymbol(_title(frame), SYMBOLS[frame.kind], place, lines.range(frame.start, frame.opened), children=[])
        by_frame[id(frame)] = symbol
        parent = by_frame.get(id(frame.parent))
        (parent.children if parent else found).append(symbol)
    return found


def _title(frame: Frame) -> str:
    return frame.name or frame.kind


def edits(changes: Iterable[tuple[Path, types.TextEdit]], uri: Callable[[Path], str]) -> types.WorkspaceEdit:
    """Edits of several files."""
    found: dict[str, list[types.TextEdit]] = {}
    for path, edit in changes:
        found.setdefault(uri(path), []).append(edit)
    return types.WorkspaceEdit(changes=found)
