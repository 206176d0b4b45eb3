"""stats, ir, schema, diff, lock, verify and fmt on adapters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.faces.cli import main
from tests.adapter.models import ENCODER, MOE, TINY

BODY = "lora(rank: 3, alpha: 5, targets: [attention.q, attention.v])  ia3(before: [ffn.down])"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.specc").write_text(TINY)
    (tmp_path / "a.specc").write_text(f'adapter a for "m.specc" {{\n  {BODY}\n}}\n')
    return tmp_path / "a.specc"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main([str(a) for a in arguments])
    return status, capsys.readouterr().out


def test_stats_counts_trained_against_frozen(spec: Path, capsys: pytest.CaptureFixture[str]):
    found = json.loads(run(capsys, "stats", spec, "--format", "json")[1])
    lora = 2 * (3 * (32 + 64) + 3 * (32 + 32))
    assert found["parameters"]["trained"] == lora + 2 * 48
    assert found["parameters"]["methods"] == {"lora": lora, "ia3": 96}
    model = json.loads(run(capsys, "stats", "m.specc", "--format", "json")[1])
    assert found["parameters"]["frozen"] == model["parameters"]["total"]
    assert "trained parameters" in run(capsys, "stats", spec)[1]


def test_the_printed_ir_fits_its_schema_and_is_read_back(spec: Path, capsys: pytest.CaptureFixture[str]):
    from specc.ir.adapter import Adapter

    _, text = run(capsys, "ir", spec)
    schema = json.loads(run(capsys, "schema", "adapter")[1])
    assert {"adapter.lora", "adapter.prefix", "adapter"} <= schema["$defs"].keys()
    import jsonschema

    jsonschema.validate(json.loads(text), schema)
    assert Adapter.model_validate_json(text).model_dump_json() == Adapter.model_validate_json(Adapter.model_validate_json(text).model_dump_json()).model_dump_json()
    assert len(json.loads(text)["methods"]) == 2


@pytest.mark.parametrize(
    ("body", "level"),
    [
        (BODY, "identical"),
        (BODY.replace("alpha: 5", "alpha: 5, dropout: 0.1"), "unchanged"),
        (BODY.replace("alpha: 5", "alpha: 6"), "computes"),
        (BODY.replace("alpha: 5", "alpha: 5, rank_stabilised: true"), "computes"),
        (BODY.replace("rank: 3", "rank: 4"), "breaking"),
        (BODY.replace("attention.v", "attention.k"), "breaking"),
    ],
)
def test_diff_says_what_a_change_means(spec: Path, capsys: pytest.CaptureFixture[str], body: str, level: str):
    new = spec.with_name("b.specc")
    new.write_text(f'adapter a for "m.specc" {{\n  {body}\n}}\n')
    (found,) = json.loads(run(capsys, "diff", spec, new, "--format", "json")[1])["models"]
    assert found["level"] == level
    assert run(capsys, "diff", spec, new)[0] == 0


def test_diff_sees_another_model_below(spec: Path, capsys: pytest.CaptureFixture[str]):
    spec.with_name("n.specc").write_text(TINY.replace("1e-5", "1e-6"))
    spec.with_name("b.specc").write_text(f'adapter a for "n.specc" {{\n  {BODY}\n}}\n')
    assert run(capsys, "diff", spec, "b.specc", "--fail-on", "computes")[0] == 1


def test_a_locked_adapter_does_not_drift(spec: Path, capsys: pytest.CaptureFixture[str]):
    assert run(capsys, "lock", ".")[0] == 0
    assert run(capsys, "lock", "--check")[0] == 0
    spec.write_text(spec.read_text().replace("alpha: 5", "alpha: 5, dropout: 0.2"))
    assert run(capsys, "lock", "--check")[0] == 0
    spec.write_text(spec.read_text().replace("alpha: 5", "alpha: 6"))
    status, _ = run(capsys, "lock", "--check")
    assert status == 1


def test_the_formatter_gives_it_its_one_layout(spec: Path, capsys: pytest.CaptureFixture[str]):
    assert run(capsys, "fmt", spec)[0] == 0
    once = spec.read_text()
    assert run(capsys, "fmt", "--check", spec)[0] == 0 and once.count("\n") == 4


PROOFS = {
    "lora": (TINY, BODY),
    "dora": (TINY, "lora(rank: 2, dora: true, targets: [attention, ffn])"),
    "experts": (MOE, "lora(rank: 2, targets: [ffn.experts])"),
    "bottleneck": (ENCODER, "bottleneck(dim: 4, activation: gelu, after: [attention, block], scale: 0.7)"),
    "prefix": (TINY, "prefix(length: 6)"),
    "prompt": (ENCODER, "prompt(length: 3)"),
}


@pytest.mark.parametrize("name", PROOFS)
def test_verify_proves_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str):
    model, body = PROOFS[name]
    (tmp_path / "v.specc").write_text(f"{model}\nadapter a for tiny {{\n  {body}\n}}\n")
    status, text = run(capsys, "verify", tmp_path / "v.specc", "--model", "a")
    assert status == 0, text
    assert "WRONG" not in text and "without the adapter" in text and (("merged" in text) == (name in ("lora", "dora", "experts")))


def test_verify_of_a_published_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from specc.resources import SPECS

    (tmp_path / "v.specc").write_text(f'adapter a for "{SPECS / "models" / "llama3_8b.specc"}" {{ lora(rank: 16, alpha: 32, targets: [attention.q, ffn]) prefix(length: 20) }}\n')
    status, text = run(capsys, "verify", tmp_path / "v.specc")
    assert status == 0, text
