"""The language server, through the protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from specc.components.registry import load, members
from specc.source import Source
from specc.syntax.format import format_text
from tests.faces.lsp_client import Editor, edited

TINY = """\
## A model to try things on
model tiny {
  vocab   = 512
  dim     = 64
  depth   = 4
  context = 128

  position  = rope(theta: 10_000)
  mask      = causal
  norm      = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2)
  ffn       = wide
  block     = mine
  head      = lm(tied: true)
  wide      = gated(hidden: 4 * dim, activation: silu)

  layer near { mask = sliding(16) }
  layer far  { mask = causal }
  layers = repeat [near, far]

  checks { params <= 400_000 }
}

## Half of each branch
block mine(x) {
  final_norm = norm
  h = norm.attention(x)
  x = x + 0.5 * attention(h)
  x = x + 0.5 * ffn(norm.ffn(x))
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.specc").write_text(TINY)
    return tmp_path


def labels(found: types.CompletionList) -> list[str]:
    return [item.label for item in found.items]


async def completions(editor: Editor, name: str, text: str) -> types.CompletionList:
    """What could stand at the `|` of a text."""
    await editor.change(name, text.replace("|", "", 1))
    before = text[: text.index("|")]
    place = types.Position(before.count("\n"), len(before.rpartition("\n")[2]))
    return await editor.client.text_document_completion_async(types.CompletionParams(editor.document(name), place))


def test_findings_follow_the_keys(folder: Path):
    async def work(editor: Editor) -> None:
        assert await editor.open("tiny.specc") == []
        (one,) = await editor.change("tiny.specc", TINY.replace("kv_heads: 2", "kv_headz: 2"))
        assert (one.code, one.severity, one.source) == ("NAM002", types.DiagnosticSeverity.Error, "specc")
        assert "did you mean `kv_heads`?" in one.message
        assert (one.range.start.line, one.range.start.character) == (10, TINY.splitlines()[10].index("kv_heads"))
        (one,) = await editor.change("tiny.specc", TINY.replace("attention(heads: 4", "attention(heads:"))
        assert one.code.startswith("SYN")
        (one,) = await editor.change("tiny.specc", TINY.replace("400_000", "4_000"))
        assert one.code == "CHK001"
        assert await editor.change("tiny.specc", TINY) == []

    edited(folder, work)


def test_every_prefix_of_a_text_is_answered(folder: Path):
    """Half-typed texts: findings, completions and a hover at every place, and never an error of the server."""

    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc", "")
        for end in range(0, len(TINY), 19):
            text = TINY[:end]
            editor.send("tiny.specc", text)
            place = types.Position(text.count("\n"), len(text.rpartition("\n")[2]))
            at = editor.document("tiny.specc"), place
            await editor.client.text_document_completion_async(types.CompletionParams(*at))
            await editor.client.text_document_hover_async(types.HoverParams(*at))
            await editor.client.text_document_definition_async(types.DefinitionParams(*at))
            await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(at[0]))
        assert await editor.change("tiny.specc", TINY) == []

    edited(folder, work)


def test_columns_count_utf16_units_and_lines_may_end_in_any_way(folder: Path):
    text = TINY.replace("## A model to try things on", "## Ein Modell für \U0001f914 Dinge").replace("\n", "\r\n")
    text = text.replace("vocab   = 512\r\n", 'require 1 == 1 else "\U0001f914\U0001f914" ').replace(
        "dim     = 64", "dim = sixty_four # für"
    )

    async def work(editor: Editor) -> None:
        (one,) = await editor.open("tiny.specc", text)
        assert "sixty_four" in one.message
        assert (one.range.start.line, one.range.start.character) == (2, 37)
        symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(editor.document("tiny.specc")))
        assert [s.name for s in symbols] == ["tiny", "mine"]
        assert [s.name for s in symbols[0].children] == ["near", "far", "checks"]

    edited(folder, work)


def test_hover_tells_sizes_shapes_and_counts(folder: Path):
    async def hover(editor: Editor, behind: str, inside: int = 1, occurrence: int = 0) -> str:
        place = editor.position("tiny.specc", behind, occurrence, inside)
        found = await editor.client.text_document_hover_async(types.HoverParams(editor.document("tiny.specc"), place))
        return found.contents.value if found else ""

    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc")
        model = await hover(editor, "model tiny")
        assert "A model to try things on" in model and "| parameters | 279,104 |" in model
        attention = await hover(editor, "= attention")
        assert "Scaled" not in attention and "softmax(scale * q k^T)" in attention
        assert "| `k.weight` | [32, 64] | 2,048 |" in attention and "| `head_dim` | `16` |" in attention
        assert "12,288 parameters, 49,152 in its 4 instances" in attention
        assert "at least" in await hover(editor, "sliding(16", 4) or "window" in await hover(editor, "sliding(16", 4)
        heads = await hover(editor, "(heads")
        assert "a whole number, above 0" in heads and "Here `4`." in heads
        assert "2 of 4 layers: 0,2" in await hover(editor, "layer near")
        assert "0.5 * attention(h)" in await hover(editor, "= mine")
        assert "`dim` = `64`" in await hover(editor, "4 * dim")
        assert "| `hidden` | `256` |" in await hover(editor, "= gated")
        assert "`params` is 279_104" in await hover(editor, "params")
        broken = TINY.replace("depth   = 4", "depth   = ")
        await editor.change("tiny.specc", broken)
        assert "softmax(scale * q k^T)" in await hover(editor, "= attention")  # what needs no numbers

    edited(folder, work)


def test_completion_knows_what_the_registry_knows(folder: Path):
    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc", "")

        async def at(text: str) -> list[str]:
            return labels(await completions(editor, "tiny.specc", text))

        for axis in ("position", "mask", "norm", "attention", "ffn", "head"):
            assert set(members(axis)) <= set(await at(f"model m {{\n  {axis} = |"))
            assert axis in await at("model m {\n  |") and axis not in await at(f"model m {{\n  {axis} = {next(iter(members(axis)))}\n  |")
        for axis, kind in (("attention", "attention"), ("ffn", "moe"), ("position", "rope")):
            fields = [name for name in load(axis, kind).model_fields if name != "kind"]
            assert set(fields) <= set(await at(f"model m {{\n  {axis} = {kind}(|"))
            rest = await at(f"model m {{\n  {axis} = {kind}({fields[0]}: 2, |")
            assert fields[0] not in rest and set(fields[1:]) <= set(rest)
        assert {"half", "interleaved"} <= set(await at("model m { position = rope(layout: |"))
        assert set(members("activation")) <= set(await at("model m { ffn = gated(hidden: 2, activation: s|"))
        assert {"rms", "layer"} <= set(await at("model m { attention = attention(qk_norm: |"))
        assert {"pre_norm", "post_norm"} <= set(await at("model m { block = |"))
        assert {"a", "b"} <= set(await at("model m { layer a { } layer b { }\n layers = repeat [|"))
        assert "base" in await at("model base { dim = 4 }\nmodel m extends |")
        assert {"params", "kv_cache"} <= set(await at("model m { checks { |"))
        assert {"tokens", "dtype"} <= set(await at("model m { checks { kv_cache(|"))
        assert {"h", "x", "attention", "ffn"} <= set(await at("block b(x) {\n h = norm.one(x)\n x = x + |"))
        assert {"attention", "ffn"} <= set(await at("block b(x) {\n x = norm.|"))
        assert "layer" not in await at("model m {\n  dim = |") and "layer" in await at("model m {\n  |")
        assert "layers[i].attention.q" in await at(TINY.replace("  checks {", "  weights hf {\n    |\n  }\n  checks {"))
        assert await at("model m {\n  dim = 4  # rope(|") == []
        assert "tiny.specc" in labels(await completions_in_other(editor))

    async def completions_in_other(editor: Editor) -> types.CompletionList:
        await editor.open("other.specc", "")
        return await completions(editor, "other.specc", 'use "|')

    edited(folder, work)


@pytest.mark.parametrize("snippets", [True, False])
def test_a_completion_replaces_the_word_at_hand(folder: Path, snippets: bool):
    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc", "")
        found = await completions(editor, "tiny.specc", "model m {\n  position = ro|")
        (rope,) = [item for item in found.items if item.label == "rope"]
        assert rope.text_edit.range == types.Range(types.Position(1, 13), types.Position(1, 15))
        assert rope.text_edit.new_text == ("rope($0)" if snippets else "rope")

    edited(folder, work, snippets)


def test_definitions_are_found_in_the_file_its_base_and_the_prelude(folder: Path):
    (folder / "small.specc").write_text('use "tiny.specc"\nmodel small extends tiny {\n  depth = 2\n  ffn = wide\n  block = pre_norm\n}\n')

    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc")
        await editor.open("small.specc")

        async def at(name: str, behind: str, inside: int = 1) -> list[str]:
            params = types.DefinitionParams(editor.document(name), editor.position(name, behind, 0, inside))
            found = await editor.client.text_document_definition_async(params) or []
            return [f"{place.uri.rpartition('/')[2]}:{place.range.start.line + 1}" for place in found]

        def line(start: str) -> str:
            return f"tiny.specc:{next(n for n, text in enumerate(TINY.splitlines(), 1) if text.strip().startswith(start))}"

        assert await at("tiny.specc", "ffn       = wide") == [line("wide")]
        assert await at("tiny.specc", "block     = mine") == [line("block mine")]
        assert await at("tiny.specc", "[near") == [line("layer near")]
        assert await at("tiny.specc", "4 * dim") == [line("dim")]
        assert await at("tiny.specc", "0.5 * attention(h") == [line("h = ")]
        assert await at("tiny.specc", "0.5 * ffn") == [line("ffn")]
        assert await at("small.specc", "extends tiny") == [line("model tiny")]
        assert await at("small.specc", "ffn = wide") == [line("wide")]
        assert await at("small.specc", "tiny.specc") == ["tiny.specc:1"]
        assert (await at("small.specc", "pre_norm"))[0].startswith("blocks.specc:")
        assert await at("tiny.specc", "rope") == []

    edited(folder, work)


def test_a_rename_reaches_every_file_and_nothing_else(folder: Path):
    small = 'use "tiny.specc"\nmodel small extends tiny {\n  depth = 2\n  ffn = wide\n}\nmodel other extends small { wide = gated(hidden: 8, activation: silu) }\n'
    (folder / "small.specc").write_text(small)

    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc")

        async def to(behind: str, name: str, inside: int = 1) -> dict[str, int]:
            place = editor.position("tiny.specc", behind, 0, inside)
            assert await editor.client.text_document_prepare_rename_async(types.PrepareRenameParams(editor.document("tiny.specc"), place))
            edit = await editor.client.text_document_rename_async(types.RenameParams(editor.document("tiny.specc"), place, name))
            return {uri.rpartition("/")[2]: len(edits) for uri, edits in edit.changes.items()}

        assert await to("ffn       = wide", "broad") == {"tiny.specc": 2, "small.specc": 2}
        assert await to("model tiny", "little") == {"tiny.specc": 1, "small.specc": 1}
        assert await to("layer near", "close") == {"tiny.specc": 2}
        assert await to("block     = mine", "halves") == {"tiny.specc": 2}
        assert await to("  h = norm", "normed", 7) == {"tiny.specc": 2}
        for name in ("dim", "far", "for", "2x", "x y"):
            with pytest.raises(JsonRpcException):
                await to("layer near", name) if name == "far" else await to("ffn       = wide", name)
        for given in ("vocab", "= attention", "norm      = rms", "rope(theta"):
            place = editor.position("tiny.specc", given, 0, 1)
            assert (
                await editor.client.text_document_prepare_rename_async(types.PrepareRenameParams(editor.document("tiny.specc"), place))
                is None
            )

    edited(folder, work)


def test_references_are_those_of_this_name(folder: Path):
    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc")
        place = editor.position("tiny.specc", "ffn       = wide", 0, 1)
        params = types.ReferenceParams(types.ReferenceContext(True), editor.document("tiny.specc"), place)
        found = await editor.client.text_document_references_async(params)
        assert [editor.text_at(one) for one in found] == ["wide", "wide"]

    edited(folder, work)


def test_formatting_is_specc_fmt(folder: Path):
    crooked = TINY.replace("  vocab   = 512", "vocab=512").replace("  layer far  ", "\n\n\n  layer far")

    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc", crooked)
        params = types.DocumentFormattingParams(editor.document("tiny.specc"), types.FormattingOptions(2, True))
        (edit,) = await editor.client.text_document_formatting_async(params)
        assert edit.new_text == format_text(Source("", crooked)) != crooked
        await editor.change("tiny.specc", edit.new_text)
        assert not await editor.client.text_document_formatting_async(params)
        await editor.change("tiny.specc", "model {")
        assert not await editor.client.text_document_formatting_async(params)

    edited(folder, work)


def test_actions_are_the_edits_of_check_fix(folder: Path):
    async def work(editor: Editor) -> None:
        wrong = TINY.replace("kv_heads: 2", "kv_headz: 2").replace("silu", "silo")
        found = await editor.open("tiny.specc", wrong)
        assert {one.code for one in found} == {"NAM001", "NAM002"}
        text = wrong
        for one in found:
            context = types.CodeActionContext([one])
            actions = await editor.client.text_document_code_action_async(
                types.CodeActionParams(editor.document("tiny.specc"), one.range, context)
            )
            (action,) = actions
            assert bool(action.is_preferred) == (one.code == "NAM002")  # what `specc check --fix` would do by itself
            (edit,) = action.edit.changes[editor.uri("tiny.specc")]
            text = text.replace({"NAM002": "kv_headz", "NAM001": "silo"}[one.code], edit.new_text)
        assert text == TINY
        (one,) = await editor.change("tiny.specc", TINY.replace("400_000", "4_000"))
        params = types.CodeActionParams(editor.document("tiny.specc"), one.range, types.CodeActionContext([one]))
        (ignore,) = await editor.client.text_document_code_action_async(params)
        (edit,) = ignore.edit.changes[editor.uri("tiny.specc")]
        assert edit.new_text == "  # specc: ignore[CHK001]"

    edited(folder, work)


def test_a_change_reaches_the_open_files_that_use_it(folder: Path):
    (folder / "small.specc").write_text('use "tiny.specc"\nmodel small extends tiny { depth = 2 }\n')

    async def work(editor: Editor) -> None:
        await editor.open("tiny.specc")
        assert await editor.open("small.specc") == []
        await editor.change("tiny.specc", TINY.replace("model tiny", "model tine"))
        async with editor.news:
            await asyncio.wait_for(editor.news.wait_for(lambda: editor.found[editor.uri("small.specc")].diagnostics), 30)
        (one,) = editor.found[editor.uri("small.specc")].diagnostics
        assert one.code == "NAM008"
        (one,) = [
            d
            for d in await editor.change("small.specc", 'use "tinny.specc"\nmodel small extends tiny { depth = 2 }\n')
            if d.code == "SYS001"
        ]
        assert one.range.start.line == 0

    edited(folder, work)


def test_texts_that_are_on_no_disk_too_large_or_no_text_at_all(folder: Path):
    async def work(editor: Editor) -> None:
        editor.uri = lambda name: "untitled:Untitled-1" if name == "new" else (folder / name).as_uri()
        assert await editor.open("new", TINY) == []
        (one,) = await editor.change("new", TINY.replace("silu", "silo"))
        assert one.code == "NAM001"
        (one,) = await editor.change("new", "# " + "x" * (1 << 20))
        assert one.code.startswith("LIM")
        for text in ("(" * 5000, '"', "\x00\ufeff{", "model m { a = [for x in ", "🤔 = 🤔", "\r\r\n\n\r"):
            found = await editor.change("new", text)
            place = types.Position(0, min(len(text), 3))
            await editor.client.text_document_completion_async(types.CompletionParams(editor.document("new"), place))
            await editor.client.text_document_hover_async(types.HoverParams(editor.document("new"), place))
            assert all(d.code for d in found)
        assert await editor.change("new", TINY) == []

    edited(folder, work)
