"""The page stands alone, and what it computes is what specc computes."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from specc.faces.cli import main
from specc.resources import SPECS
from specc.tools.analyse import Costs
from specc.tools.draw import figures
from specc.tools.draw.page import page
from tests.tools.draw.models import families, published

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NAMES = ("gemma2_9b", "deepseek_v3", "bert_base_mlm", "gpt_oss_20b", "phi_2")
ASKED = [(0, 1, "bf16", False), (1, 1, "bf16", False), (5000, 3, "fp8", False), (5000, 3, "fp32", True), (131_072, 2, "int4", True)]
PROBE = """
<script>
  const asked = %s;
  const found = { cache: [], outside: [], errors: [] };
  const field = (name) => form.elements.namedItem(name);
  if (field('tokens')) for (const [tokens, sequences, dtype, reachable] of asked) {
    field('tokens').value = tokens; field('sequences').value = sequences; field('cache').value = dtype;
    if (field('reachable')) field('reachable').checked = reachable;
    form.dispatchEvent(new Event('input'));
    found.cache.push(Number(document.getElementById('cache-bytes').dataset.bytes));
  }
  found.weights = Number(document.getElementById('weights-bytes').dataset.bytes);
  for (const box of document.querySelectorAll('.picture rect.box')) {
    const room = box.getBBox();
    for (const text of box.parentNode.querySelectorAll('text')) {
      const its = text.getBBox();
      if (its.x + its.width > room.x + room.width || its.y + its.height > room.y + room.height + 1) found.outside.push(text.textContent);
    }
  }
  found.picture = document.querySelector('.picture svg').getBoundingClientRect().height;
  const out = document.createElement('pre');
  out.id = 'probe';
  out.textContent = JSON.stringify(found);
  document.body.append(out);
</script>
"""


def test_nothing_is_fetched():
    for model in map(published, NAMES):
        text = page(model)
        assert not re.search(r"\b(?:src|href)\s*=|@import|url\((?!#)|fetch\(|XMLHttpRequest|WebSocket", text)
        assert text.count("<script") == 2 and f"<title>{model.name}</title>" in text
        assert f"{Costs(model).parameters:,}" in text


def test_what_is_said_of_a_model_cannot_become_markup():
    model = published("phi_2").model_copy(update={"doc": "</p><script>alert(1)</script> & more"})
    assert "<script>alert" not in page(model) and html.escape("</p><script>") in page(model)


def test_the_formula_of_the_cache_is_the_count():
    for model in [*map(published, NAMES), *families().values()]:
        costs, kept = Costs(model), figures.cache(model)
        for tokens, _, dtype, reachable in ASKED:
            values = 0
            for one in kept:
                held = min(tokens, one.reach or tokens) if reachable else tokens
                values += one.times * (one.fixed + one.per_token * held + one.per_source * tokens)
            assert round(values * figures.bytes_per_value()[dtype]) == costs.kv_cache(tokens, dtype, reachable), model.name


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("name", ["gemma2_9b", "deepseek_v3", "t5", "dinov2_with_registers"])
def test_in_a_browser(name: str, tmp_path: Path):
    model = families()[name] if name in families() else published(name)
    file = tmp_path / "model.html"
    file.write_text(page(model).replace("</body>", PROBE % json.dumps(ASKED) + "</body>"), encoding="utf-8")
    run = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()]
    dom = subprocess.run(run, capture_output=True, text=True, timeout=120).stdout
    found = json.loads(html.unescape(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.DOTALL)[1]))
    costs = Costs(model)
    if figures.cache(model):
        assert found["cache"] == [sequences * costs.kv_cache(tokens, dtype, reachable) for tokens, sequences, dtype, reachable in ASKED]
    assert found["weights"] == costs.weight_bytes("bf16")
    assert found["outside"] == [] and found["picture"] > 300


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture):
    spec = str(SPECS / "models" / "phi_2.specc")
    assert main(["draw", spec, "-o", str(tmp_path / "a.html")]) == 0
    assert main(["draw", spec, "-o", str(tmp_path / "a.svg")]) == 0
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>") and "<svg" in (tmp_path / "a.svg").read_text()
    assert main(["draw", spec, "-o", str(tmp_path / "a.png")]) == 2
    assert "it ends in .html or .svg" in capsys.readouterr().err
