"""An editor for tests: a real client of the protocol, talking to `specc lsp` in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 30  # seconds; an answer takes milliseconds


class Editor:
    """Files that are open in it, and the findings that the server last sent for each."""

    def __init__(self, folder: Path, snippets: bool = True) -> None:
        self.folder, self.snippets = folder, snippets
        self.client = LanguageClient("editor", "1")
        self.found: dict[str, types.PublishDiagnosticsParams] = {}
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.news = asyncio.Condition()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def published(params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.found[params.uri] = params
                self.news.notify_all()

    async def start(self) -> types.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "specc", "lsp", "--stdio")
        item = types.ClientCompletionItemOptions(snippet_support=self.snippets)
        documents = types.TextDocumentClientCapabilities(completion=types.CompletionClientCapabilities(completion_item=item))
        result = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(text_document=documents),
                workspace_folders=[types.WorkspaceFolder(self.folder.as_uri(), "specs")],
            )
        )
        self.client.initialized(types.InitializedParams())
        return result

    async def stop(self) -> int:
        """-> the server's exit status."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        status = await asyncio.wait_for(self.client._server.wait(), PATIENCE)
        await self.client.stop()
        return status

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    async def open(self, name: str, text: str | None = None) -> list[types.Diagnostic]:
        """Opens a file, with a text of its own that is not on disk, if one is given. -> its findings."""
        text = (self.folder / name).read_bytes().decode() if text is None else text
        self.texts[name], self.versions[name] = text, 0
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), "specc", 0, text)))
        return await self.findings(name)

    async def change(self, name: str, text: str) -> list[types.Diagnostic]:
        """Types. -> the findings of that very text."""
        self.send(name, text)
        return await self.findings(name)

    def send(self, name: str, text: str) -> None:
        self.texts[name], self.versions[name] = text, self.versions[name] + 1
        document = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(document, [types.TextDocumentContentChangeWholeDocument(text)])
        )

    async def findings(self, name: str) -> list[types.Diagnostic]:
        uri, version = self.uri(name), self.versions[name]
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(lambda: uri in self.found and self.found[uri].version == version), PATIENCE)
        return list(self.found[uri].diagnostics)

    def position(self, name: str, behind: str, occurrence: int = 0, inside: int = 0) -> types.Position:
        """The place right behind a piece of a file's text, or `inside` characters before its end."""
        at = -1
        for _ in range(occurrence + 1):
            at = self.texts[name].index(behind, at + 1)
        before = self.texts[name][: at + len(behind) - inside]
        column = before.rpartition("\n")[2]
        return types.Position(before.count("\n"), len(column.encode("utf-16-le")) // 2)

    def text_at(self, place: types.Location) -> str:
        """What stands at a place of one line, in the file as it is on disk or in the editor."""
        name = place.uri.rpartition("/")[2]
        text = self.texts.get(name) or Path(place.uri.removeprefix("file://")).read_text()
        return text.splitlines()[place.range.start.line][place.range.start.character : place.range.end.character]


def edited(folder: Path, work: Callable[[Editor], Awaitable[None]], snippets: bool = True) -> None:
    """Runs an editor over a folder, does some work in it, and requires the server to end as it should."""

    async def run() -> None:
        editor = Editor(folder, snippets)
        await editor.start()
        try:
            await work(editor)
        finally:
            status = await editor.stop()
        assert status == 0

    asyncio.run(run())
