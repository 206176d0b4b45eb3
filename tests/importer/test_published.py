"""Configs as they are published, cut down to the fields that are odd about them: what an import makes of each.

Each is named after where it was read. Parameters are those that transformers counts on the meta device, ties once.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.diagnostics import SpecError
from specc.faces.cli import main
from specc.tools.importer.run import import_model
from tests.cases.values import count, imported, kept, refusal
from tests.importer.configs import FAMILIES

SAMPLES = json.loads((Path(__file__).parent / "published.json").read_text())


@pytest.mark.parametrize("name", SAMPLES)
def test_an_odd_config(name: str) -> None:
    sample = SAMPLES[name]
    config = sample["config"]
    if "refused" in sample:
        found = refusal(config)
        assert [code for code, _ in found] == [code for code, _ in sample["refused"]]
        for (_, message), (_, words) in zip(found, sample["refused"], strict=True):
            assert words in message
        return
    assert count(config) == sample["parameters"]
    warnings = kept(config)
    assert len(warnings) == len(sample["warnings"])
    for message, words in zip(warnings, sample["warnings"], strict=True):
        assert words in message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"model_type": "llama", "hidden_size": <SIZE>}', "CFG002"),
        ('{"model_type": "llama", "vocab_size": NaN}', "CFG002"),
        ('{"vocab_size": 3, "vocab_size": 4}', "CFG002"),
        ("[]", "CFG002"),
        ("", "CFG002"),
        ("[" * 5000 + "]" * 5000, "CFG002"),
        ('{"architectures": null, "dtype": null}', "CFG003"),
        ('{"architectures": ["A", "B"], "model_type": "qwen3_multi_arch"}', "CFG004"),
    ],
)
def test_what_is_no_config(text: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """One diagnostic, exit 1, no trace (https://github.com/openvinotoolkit/model_server, src/test/models_config_json)."""
    path = tmp_path / "config.json"
    path.write_text(text)
    assert main(["import", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("error ") == 1
    assert f"error {code}: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("family", FAMILIES)
def test_an_empty_config(family: str) -> None:
    ((code, message),) = refusal({"model_type": family})
    assert code == "CFG015"
    assert message.startswith("the config states no `")


@pytest.mark.parametrize(
    ("kind", "words"),
    [("mamba2", "state-space layers"), ("longt5", "attention over blocks"), ("funnel", "relative positions"), ("qwen3_next", "delta")],
)
def test_a_type_without_a_family_is_named_with_its_mechanism(kind: str, words: str) -> None:
    ((code, message),) = refusal({"model_type": kind})
    assert code == "CFG004"
    assert words in message


def test_a_misspelt_type() -> None:
    with pytest.raises(SpecError) as caught:
        imported({"model_type": "lama"})
    assert "llama" in str(caught.value.diagnostics[0].help)


def test_a_field_passes_when_it_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(SAMPLES["GPT-J as GPT-Neo"]["config"]))
    text = import_model(tmp_path, allow=frozenset({"rotary_dim", "window_size"})).text
    assert "Not taken over: rotary_dim." in text
    assert "Not taken over: window_size." in text
