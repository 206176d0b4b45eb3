"""`specc run` as it is typed: what it prints, and one line for every wrong use."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from specc.faces.cli import main
from specc.tools.runtime.generate import generate
from specc.tools.runtime.session import open_graph
from specc.tools.runtime.tokens import Tokens
from tests.tools.runtime.built import CONTEXT, VOCAB, built

pytest.importorskip("onnxruntime")
pytest.importorskip("transformers")


@pytest.fixture
def said(capsys: pytest.CaptureFixture):
    """Runs the command line -> exit status, stdout, stderr."""

    def run(kind: str | Path, *arguments: str) -> tuple[int, str, str]:
        folder = built(kind) if isinstance(kind, str) else kind
        capsys.readouterr()
        status = main(["run", str(folder), "--provider", "cpu", *arguments])
        return status, *capsys.readouterr()

    return run


def continuation(kind: str, ids: list[int], new: int = 6) -> list[int]:
    return generate(open_graph(built(kind), "cpu"), [ids], new)[0].ids


def test_ids(said):
    status, out, err = said("llama", "--ids", "1,2,3", "--ids", "9", "--max-new-tokens", "6", "--chunk", "2")
    expected = [",".join(map(str, continuation("llama", ids))) for ids in ([1, 2, 3], [9])]
    assert (status, out.splitlines()) == (0, expected)
    assert err.startswith("onnxruntime ") and err.endswith(" on the CPU\n") and err.count("\n") == 1


def test_a_prompt(said):
    tokens = Tokens(built("gpt2"))
    ids = tokens.encode("Hello").ids
    status, out, _ = said("gpt2", "--prompt", "Hello", "--max-new-tokens", "6", "--fast-start")
    expected = tokens.decode(ids + continuation("gpt2", ids)).removeprefix("Hello")
    assert (status, out) == (0, expected + "\n")


def test_prompts_in_a_batch(said):
    _, out, _ = said("gpt2", "--prompt", "Hello", "--prompt", "A", "--max-new-tokens", "3")
    assert [line for line in out.split("\n") if line.startswith("== ")] == ["== 1: Hello", "== 2: A"]


def test_as_json(said):
    _, out, _ = said("gpt2", "--prompt", "Hello", "--max-new-tokens", "6", "--format", "json")
    (record,) = json.loads(out)
    assert record["new_ids"] == continuation("gpt2", record["ids"])
    assert (record["prompt"], record["stop"]) == ("Hello", "length")
    assert said("gpt2", "--prompt", "Hello", "--max-new-tokens", "6")[1] == record["text"] + "\n"


def test_a_terminal_sees_tokens_as_they_come(monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def flush(self) -> None:
            seen.append(self.getvalue())

    seen: list[str] = []
    monkeypatch.setattr("sys.stdout", Terminal())
    assert main(["run", str(built("llama")), "--prompt", "Hi", "--max-new-tokens", "8", "--provider", "cpu"]) == 0
    assert len(seen) >= 8
    assert all(later.startswith(earlier) for earlier, later in zip(seen, seen[1:], strict=False))


def test_drawing(said):
    def drawn(*arguments: str) -> str:
        return said("llama", "--ids", "1,2,3", "--max-new-tokens", "12", *arguments)[1]

    assert drawn("--temperature", "0") == drawn() == drawn("--top-k", "1")
    assert drawn("--top-p", "0.95", "--seed", "4") == drawn("--temperature", "1", "--top-p", "0.95", "--seed", "4") != drawn()
    assert drawn("--temperature", "1", "--seed", "4") != drawn("--temperature", "1", "--seed", "5")


def test_the_context_ends_it(said):
    _, out, err = said("llama", "--ids", ",".join(["1"] * (CONTEXT - 2)))
    assert len(out.split(",")) == 2
    assert err.endswith(f"stopped at the model's context of {CONTEXT} tokens\n")


def test_an_end_token_of_the_settings(said, tmp_path: Path):
    folder = Path(shutil.copytree(built("llama"), tmp_path / "copy"))
    expected = continuation("llama", [1, 2, 3])
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [expected[2]]}))
    assert said(folder, "--ids", "1,2,3")[1] == ",".join(map(str, expected[: expected.index(expected[2]) + 1])) + "\n"


def test_embeddings(said):
    status, out, _ = said("bert", "--text", "the cat sat", "--text", "a mat")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "== 1: the cat sat" and lines[1].startswith("last_hidden_state [5, 32]: ") and lines[1].endswith(", ...")
    assert lines[3] == "== 2: a mat" and lines[5].startswith("pooler_output [32]: ")
    records = json.loads(said("bert", "--text", "the cat sat", "--text", "a mat", "--format", "json")[1])
    assert np.array(records[1]["last_hidden_state"]).shape == (4, 32)
    by_ids = json.loads(said("bert", "--ids", ",".join(map(str, records[0]["ids"])), "--format", "json")[1])
    assert np.allclose(by_ids[0]["pooler_output"], records[0]["pooler_output"], atol=1e-5)


def test_classes(said):
    _, out, _ = said("sequences", "--text", "the cat sat")
    (record,) = json.loads(said("sequences", "--text", "the cat sat", "--format", "json")[1])
    assert out == f"{record['label']}  {record['score']:.4f}\n"
    assert set(record["scores"]) == {"cold", "mild", "hot"}
    _, out, _ = said("tokens", "--text", "the cat sat")
    assert [line.split()[0] for line in out.splitlines()] == ["[CLS]", "the", "cat", "sat", "[SEP]"]


def test_fillings(said):
    _, out, _ = said("masked", "--text", "the [MASK] sat on a [MASK]")
    assert [line.split(": ")[0] for line in out.splitlines()] == ["2", "6"]
    (record,) = json.loads(said("masked", "--text", "the [MASK] sat", "--format", "json")[1])
    assert [mask["position"] for mask in record["masks"]] == [2] and len(record["masks"][0]["fillings"]) == 5


@pytest.mark.parametrize(
    "kind, arguments, problem",
    [
        ("llama", [], "there is no input"),
        ("llama", ["--ids", "1", "--prompt", "a"], "--prompt and --ids do not go together"),
        ("llama", ["--ids", "1,x"], "`1,x` is no list of token ids"),
        ("llama", ["--ids", ""], "`` is no list of token ids"),
        ("llama", ["--ids", str(VOCAB)], f"token id {VOCAB} is outside the vocabulary of {VOCAB}"),
        ("llama", ["--prompt", ""], "an input is empty"),
        ("llama", ["--prompt", "a" * (CONTEXT + 1)], f"an input has {CONTEXT + 1} tokens, and the model reads {CONTEXT}"),
        ("llama", ["--text", "a"], "this graph generates text"),
        ("llama", ["--ids", "1", "--top-p", "2"], "top-p lies above 0 and up to 1"),
        ("llama", ["--ids", "1", "--max-new-tokens", "0"], "--max-new-tokens and --chunk are whole numbers from 1 up"),
        ("bert", ["--prompt", "the cat"], "this graph does not generate: it is an encoder with the head pooled"),
        ("bert", ["--text", "the cat", "--seed", "0", "--top-k", "3"], "--top-k, --seed is for generating"),
        ("bert", ["--text", ""], "an input is empty"),
        ("bert", ["--text", "the " * CONTEXT], f"an input has {CONTEXT + 2} tokens, and the model reads {CONTEXT}"),
        ("masked", ["--text", "the cat"], "a text has no mask to fill"),
    ],
)
def test_wrong_use(said, kind: str, arguments: list[str], problem: str):
    status, out, err = said(kind, *arguments)
    assert (status, out) == (2, "")
    (line,) = [line for line in err.splitlines() if line.startswith("error ")]
    assert line.startswith(f"error SYS022: {problem}")


def test_no_tokenizer(said, tmp_path: Path):
    folder = Path(shutil.copytree(built("llama"), tmp_path / "copy"))
    (folder / "tokenizer.json").unlink()
    status, _, err = said(folder, "--prompt", "Hello")
    assert status == 2
    assert "holds no tokenizer.json, so text cannot be read\n  = help: give token ids: --ids 1,2,3\n" in err
    assert said(folder, "--ids", "1,2")[0] == 0


def test_no_graph(said, tmp_path: Path):
    status, _, err = said(tmp_path, "--ids", "1")
    assert status == 2 and err.startswith("error SYS021: ")


def test_changed_weights(said, tmp_path: Path):
    folder = Path(shutil.copytree(built("llama"), tmp_path / "copy"))
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    status, _, err = said(folder, "--ids", "1")
    assert status == 1 and err.startswith("error WGT020: ")
