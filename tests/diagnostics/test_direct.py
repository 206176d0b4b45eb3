"""What no spec text alone can cause: files too large or no text, and configs that cannot be taken over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specc.diagnostics import Diagnostic, SpecError
from specc.syntax.limits import TEXT, TOKENS
from specc.tools.importer import run
from specc.tools.importer.run import import_model
from tests.diagnostics.checked import FILE, findings

LLAMA = {
    "model_type": "llama", "vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 32, "rms_norm_eps": 1e-5, "hidden_act": "silu",
}  # fmt: skip


def refused(folder: Path, config: Any, **changes: Any) -> list[Diagnostic]:
    """What the import of a config says: a text as it is, or fields over a small LLaMA's."""
    text = config if isinstance(config, str) else json.dumps(config | changes)
    (folder / "config.json").write_text(text)
    with pytest.raises(SpecError) as caught:
        import_model(folder)
    return list(caught.value.diagnostics)


def only(found: list[Diagnostic]) -> tuple[str, str]:
    (diagnostic,) = found
    return diagnostic.code, diagnostic.message


# ---- the file


@pytest.mark.parametrize("text", ["#" * (TEXT + 1), "# \N{LATIN SMALL LETTER E WITH ACUTE}" * (TEXT // 4 + 1)])
def test_a_text_of_more_than_a_mebibyte(text: str, tmp_path: Path) -> None:
    assert only(findings(text, tmp_path)) == ("LIM001", "the file is larger than 1 MiB")


@pytest.mark.parametrize(("content", "what"), [(b"model\0m", "a NUL character"), (b"model \xff", "bytes that are not UTF-8")])
def test_a_file_that_is_no_text(content: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    text = content.decode("utf-8", errors="surrogateescape")
    assert only(findings_of(tmp_path)) == ("LIM007", f"the file holds {what}")
    assert findings_of(tmp_path)[0].span.start == max(text.find("\0"), text.find("\udcff"))


def findings_of(folder: Path) -> list[Diagnostic]:
    from specc.tools.check import check_file

    with pytest.raises(SpecError) as caught:
        check_file(folder / FILE)
    return list(caught.value.diagnostics)


def test_too_many_words(tmp_path: Path) -> None:
    assert only(findings("a " * (TOKENS + 1), tmp_path)) == ("LIM009", "the file holds more than 200,000 words and signs")


# ---- configs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not valid JSON"),
        ("{", "is not valid JSON"),
        ("[1]", "holds no JSON object"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": 1, "b": 2, "a": 1}', "`a` is given twice"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('{"a": ' + "[" * 70 + "]" * 70 + "}", "nests more than 64 deep"),
        ('{"a": ' + "9" * 10_000 + "}", "is not valid JSON"),
        ('{"a": "' + "b" * (11 << 20) + '"}', "more than 10 MiB"),
    ],
)
def test_what_is_no_config(text: str, words: str, tmp_path: Path) -> None:
    code, message = only(refused(tmp_path, text))
    assert code == "CFG002"
    assert words in message


@pytest.mark.parametrize("kind", [None, 3, ""])
def test_a_config_without_a_model_type(kind: Any, tmp_path: Path) -> None:
    assert only(refused(tmp_path, LLAMA, model_type=kind))[0] == "CFG003"


def test_a_model_type_without_a_family(tmp_path: Path) -> None:
    (found,) = refused(tmp_path, LLAMA, model_type="lama")
    assert (found.code, found.help) == ("CFG004", "did you mean `llama`?")


def test_quantised_weights_are_refused_and_custom_code_is_named(tmp_path: Path) -> None:
    found = refused(tmp_path, LLAMA, quantization_config={"bits": 4}, auto_map={"AutoModel": "modeling.Model"})
    assert [(d.code, d.severity) for d in found] == [("CFG005", "error"), ("CFG005", "warning")]


def test_a_field_that_changes_other_families(tmp_path: Path) -> None:
    (found,) = refused(tmp_path, LLAMA, final_logit_softcapping=30.0)
    assert (found.code, found.help) == ("CFG006", "`--allow final_logit_softcapping` lets it pass and says so in the spec")
    imported = import_model(tmp_path, allow=frozenset({"final_logit_softcapping"}))
    assert "Not taken over: final_logit_softcapping." in imported.text


def test_a_field_that_no_family_knows_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA | {"flux_capacity": 1.21}))
    (found,) = import_model(tmp_path).warnings
    assert (found.code, found.severity) == ("CFG007", "warning")


def test_a_printed_spec_is_held_against_its_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        run,
        "print_file",
        lambda file, original=run.print_file: original(file).replace("bidirectional", "causal").replace("causal", "bidirectional"),
    )
    assert only(refused(tmp_path, LLAMA))[0] == "CFG008"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"rope_scaling": {"rope_type": "spiral", "factor": 2.0}}, "CFG010"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 2.0, "twist": 1}}, "CFG011"),
        ({"hidden_act": "sine"}, "CFG013"),
        ({"hidden_act": ["silu"]}, "CFG013"),
        ({"hidden_size": 2**70}, "LIM011"),
        ({"rms_norm_eps": 1e400}, "LIM012"),
        ({"hidden_size": "wide"}, "TYP001"),
        ({"num_hidden_layers": 10**9}, "LIM010"),
        ({"num_attention_heads": 0}, "VAL008"),
    ],
)
def test_configs_that_say_what_cannot_be(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    config = json.dumps(LLAMA | changes).replace("Infinity", "1e400")
    assert code in [found.code for found in refused(tmp_path, config)]
