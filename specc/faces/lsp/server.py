"""`specc lsp`: a server on stdin and stdout. Each handler asks specc.tools.editor and puts the answer into the protocol."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from specc import __version__
from specc.diagnostics.finding import SpecError
from specc.faces.lsp import translate
from specc.faces.lsp.positions import Lines
from specc.source import Source, Span
from specc.syntax.format import format_text
from specc.tools.editor import actions, complete, hover, rename
from specc.tools.editor.names import Names, Place
from specc.tools.editor.session import Session

LONGEST_PAUSE = 0.3  # seconds between the end of one check and the next, while keys come in


class Server(LanguageServer):
    """The open files, and when each is checked next. Changes are sent whole: a spec is small, and no edit can go astray."""

    def __init__(self) -> None:
        super().__init__("specc", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.session = Session()
        self.uris: dict[Path, str] = {}
        self.waiting: dict[Path, asyncio.TimerHandle] = {}
        self.checked, self.took = 0.0, 0.0  # when the last check ended, and how long it was

    # ---- files

    def path(self, uri: str) -> Path:
        """The file of a document; one that is not on disk yet lies, for what it uses, in the current folder."""
        name = uris.to_fs_path(uri) if uri.startswith("file:") else None
        return Path(name) if name else Path.cwd() / f"{uri.rpartition(':')[2].strip('/').replace('/', '_')}.specc"

    def uri(self, path: Path) -> str:
        return self.uris.get(path) or uris.from_fs_path(str(path)) or ""

    def lines(self, path: Path) -> Lines:
        return Lines(self.session.project.read(path).text)

    def location(self, place: Place) -> types.Location:
        return types.Location(self.uri(place.path), self.lines(place.path).range(place.start, place.end))

    def of_span(self, span: Span) -> types.Location:
        return types.Location(self.uri(Path(span.source.name)), Lines(span.source.text).range(span.start, span.end))

    def at(self, params: types.TextDocumentPositionParams) -> tuple[Path, int]:
        """The file and the offset that a request is about."""
        path = self.path(params.text_document.uri)
        return path, self.lines(path).offset(params.position)

    # ---- findings

    def soon(self, paths: list[Path]) -> None:
        """Checks files as soon as nothing else waits: at once, or while keys come in fast, when there is a pause."""
        idle = time.monotonic() - self.checked > self.took
        for path in paths:
            if path in self.waiting:
                self.waiting.pop(path).cancel()
            self.waiting[path] = asyncio.get_running_loop().call_later(0 if idle else min(self.took, LONGEST_PAUSE), self._check, path)

    def _check(self, path: Path) -> None:
        self.waiting.pop(path, None)
        if path not in self.session.project.buffers:
            return
        begun = time.monotonic()
        try:
            analysis = self.session.analysis(path)
            lines = Lines(analysis.source.text)
            found = [translate.diagnostic(one, analysis.source, lines, self.of_span) for one in analysis.found]
            document = self.workspace.get_text_document(self.uri(path))
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(self.uri(path), found, document.version))
        except Exception:  # the next keystroke is another text
            logging.exception("checking %s", path)
        self.checked = time.monotonic()
        self.took = self.checked - begun


server = Server()


@server.feature(types.INITIALIZED)
def initialized(ls: Server, params: types.InitializedParams) -> None:
    ls.session.project.folders = [ls.path(folder.uri) for folder in ls.workspace.folders.values()]


@server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def folders_changed(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    ls.session.project.folders = [ls.path(folder.uri) for folder in ls.workspace.folders.values()]


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    path = ls.path(params.text_document.uri)
    ls.uris[path] = params.text_document.uri
    ls.soon(ls.session.change(path, params.text_document.text))


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    path = ls.path(params.text_document.uri)
    ls.soon(ls.session.change(path, ls.workspace.get_text_document(params.text_document.uri).source))


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    path = ls.path(params.text_document.uri)
    reached = ls.session.close(path)
    ls.uris.pop(path, None)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
    ls.soon(reached)


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
@server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def saved(ls: Server, params: types.DidSaveTextDocumentParams | types.DidChangeWatchedFilesParams) -> None:
    ls.soon(ls.session.disk_changed())


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hovered(ls: Server, params: types.HoverParams) -> types.Hover | None:
    path, offset = ls.at(params)
    found = hover.hover(ls.session.project, ls.session.analysis(path), offset)
    if found is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.text), ls.lines(path).range(found.start, found.end))


@server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=list('.(:=," [')))
def completed(ls: Server, params: types.CompletionParams) -> types.CompletionList:
    path, offset = ls.at(params)
    start, found = complete.complete(ls.session.project, ls.session.analysis(path), offset)
    place = ls.lines(path).range(start, offset)
    return types.CompletionList(False, [translate.completion(one, place, _snippets(ls)) for one in found])


def _snippets(ls: Server) -> bool:
    document = ls.client_capabilities.text_document
    item = document.completion.completion_item if document and document.completion else None
    return bool(item and item.snippet_support)


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def defined(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
    path, offset = ls.at(params)
    found = ls.session.project.outline(path).at(offset)
    places = Names(ls.session.project, path).definitions(found) if found else []
    return [ls.location(place) for place in places if place.path.is_file() or place.path in ls.session.project.buffers]


@server.feature(types.TEXT_DOCUMENT_REFERENCES)
def referred(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
    path, offset = ls.at(params)
    found = ls.session.project.outline(path).at(offset)
    return [ls.location(place) for place in rename.occurrences(ls.session.project, path, found)] if found else []


@server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def outlined(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    path = ls.path(params.text_document.uri)
    return translate.symbols(ls.session.project.outline(path), ls.lines(path))


@server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
def rename_prepared(ls: Server, params: types.PrepareRenameParams) -> types.Range | None:
    path, offset = ls.at(params)
    found = rename.renamable(ls.session.project, path, offset)
    return ls.lines(path).range(found.start, found.end) if found else None


@server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
def renamed(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit:
    path, offset = ls.at(params)
    try:
        changes = rename.rename(ls.session.project, path, offset, params.new_name)
    except rename.Refused as refused:
        raise JsonRpcInvalidParams(str(refused)) from None
    edits = (
        (p.path, types.TextEdit(ls.lines(p.path).range(p.start, p.end), params.new_name)) for places in changes.values() for p in places
    )
    return translate.edits(edits, ls.uri)


@server.feature(types.TEXT_DOCUMENT_FORMATTING)
def formatted(ls: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """The canonical layout; nothing while the text does not parse."""
    path = ls.path(params.text_document.uri)
    source = ls.session.project.read(path)
    try:
        text = format_text(Source(source.name, source.text))
    except SpecError:
        return []
    return [types.TextEdit(Lines(source.text).range(0, len(source.text)), text)] if text != source.text else []


@server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]))
def offered(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    path = ls.path(params.text_document.uri)
    analysis, lines = ls.session.analysis(path), ls.lines(path)
    start, end = lines.offset(params.range.start), lines.offset(params.range.end)
    found = []
    for one in analysis.found:
        if one.span is None or one.span.source is not analysis.source or one.span.start > end or one.span.end < start:
            continue
        for action in actions.actions(one):
            edit = types.TextEdit(lines.range(action.edit.start, action.edit.end), action.edit.text)
            found.append(
                types.CodeAction(
                    action.title,
                    types.CodeActionKind.QuickFix,
                    [translate.diagnostic(one, analysis.source, lines, ls.of_span)],
                    is_preferred=action.certain or None,
                    edit=translate.edits([(path, edit)], ls.uri),
                )
            )
    return found
