"""`specc compare`: the figures are specc's own, and what differs is seen."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from specc.diagnostics.table.example import spec
from specc.faces.cli import main
from specc.resources import SPECS
from specc.tools.analyse import Costs
from specc.tools.compare import compared
from specc.tools.spell import size
from tests.tools.draw.models import families, published, written

LLAMA, GEMMA = (str(SPECS / "models" / f"{name}.specc") for name in ("llama3_8b", "gemma2_9b"))


def test_the_figures_are_those_of_the_models():
    models = [published("llama3_8b"), published("gemma3_1b")]
    rows = {(row.group, row.name): row for row in compared(models)}
    a, b = map(Costs, models)
    assert rows["parameters", "all"].numbers == (a.parameters, b.parameters)
    assert rows["parameters", "all"].ratios == (b.parameters / a.parameters,)
    assert rows["parameters", "head"].numbers == (a.by_part["head"], 0)
    assert rows["FLOPs", "a token, context 8,192"].numbers == (a.flops(8192), b.flops(8192))
    assert rows["FLOPs", "a token, context 32,768"].numbers == (None, b.flops(32_768))  # past the first one's context
    assert rows["bytes", "cache of 8,192 tokens, what masks reach"].numbers == (a.kv_cache(8192), b.kv_cache(8192, reachable=True))
    assert rows["bytes", "weights in bf16"].values == (size(a.weight_bytes("bf16")), size(b.weight_bytes("bf16")))
    assert rows["axes", "layers"].values == ("32 of one kind", "(5 local, 1 global) x 4, 2 local")
    assert rows["axes", "mask"].values == ("causal", "local: sliding(window: 512)\nglobal: causal")
    assert rows["axes", "wiring"].values[0] == "x = x + attention(norm.attention(x))\nx = x + ffn(norm.ffn(x))"


def test_every_field_that_differs_is_a_row_that_differs():
    changes = {
        "vocab": "72", "dim": "32", "depth": "3", "context": "48", "position": "rope(theta: 20_000)", "mask": "sliding(8)",
        "norm": "rms(eps: 1e-6)", "attention": "attention(heads: 4)", "ffn": "mlp(hidden: 64, activation: relu)",
        "block": "parallel", "head": "lm(tied: false)", "embed": "tokens(scale: 2)", "final_norm": "none",
    }  # fmt: skip
    plain = written(spec())
    assert not [row for row in compared([plain, written(spec())]) if row.differs]
    for field, value in changes.items():
        assert [row for row in compared([plain, written(spec(**{field: value}))]) if row.differs], field


def test_models_of_every_sort_stand_beside_one_another():
    models = [published("llama3_8b"), families()["t5"], families()["vit"], families()["bert"]]
    rows = {(row.group, row.name): row for row in compared(models)}
    assert rows["axes of the decoder", "cross"].values[1].startswith("attention(") and not rows["axes of the decoder", "cross"].values[0]
    assert rows["FLOPs", "an image"].numbers[2] == Costs(models[2]).per_image
    assert all(len(row.values) == 4 for row in rows.values())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture):
    assert main(["compare", LLAMA, GEMMA]) == 0
    out = capsys.readouterr().out
    assert (
        re.search(r"^  all +8,030,261,248 +9,241,705,984  x 1.15$", out, re.MULTILINE)
        and "embed" not in out.split("axes")[0].split("norm")[-1]
    )
    assert main(["compare", LLAMA, LLAMA]) == 0
    assert capsys.readouterr().out == "the same in everything that is compared\n"
    assert main(["compare", LLAMA, LLAMA, "--all"]) == 0
    assert "rope(theta: 500_000)" in capsys.readouterr().out
    assert main(["compare", LLAMA, GEMMA, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["models"] == ["llama3_8b", "gemma2_9b"]
    (row,) = [row for row in found["rows"] if (row["group"], row["name"]) == ("sizes", "layers")]
    assert row["numbers"] == [32, 42] and row["ratios"] == [42 / 32] and row["differs"]


def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture):
    out = tmp_path / "both.html"
    assert main(["compare", LLAMA, GEMMA, "-o", str(out)]) == 0
    text = out.read_text()
    assert text.count("<svg") == 2 and "× 1.15" in text and not re.search(r"\b(?:src|href)\s*=|@import|url\((?!#)", text)
    assert '<tr class="same"><td>context</td>' in text and '<tr class="differs"><td>layers</td>' in text
    assert main(["compare", LLAMA, GEMMA, "-o", str(tmp_path / "both.pdf")]) == 2


def test_a_model_of_several_is_named(tmp_path: Path, capsys: pytest.CaptureFixture):
    file = tmp_path / "two.specc"
    file.write_text(spec() + spec(depth="3").replace("model m", "model n"))
    assert main(["compare", f"{file}#m", f"{file}#n"]) == 0
    assert re.search(r"layers +2 +3", capsys.readouterr().out)
    assert main(["compare", str(file), f"{file}#n"]) == 2
    assert main(["compare", f"{file}#absent", f"{file}#n"]) == 2
    assert main(["compare", str(file)]) == 2
