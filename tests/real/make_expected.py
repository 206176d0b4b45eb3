"""Writes expected.json: what transformers computes with the trained weights. `python -m tests.real.make_expected`"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.real.packages import minilm, smollm2

TARGET = Path(__file__).with_name("expected.json")
TEXTS = ["A short sentence.", "The quick brown fox jumps over the lazy dog, twice, and then it rests in the shade."]
PROMPTS = [[504, 3575, 282, 4649, 314], list(range(1000, 1040))]
NEW = 16
SIGNIFICANT = 8


def sentences(folder: Path) -> dict[str, Any]:
    """Each text alone: ids, pooled vector, and the first numbers of the first and the last token."""
    import torch
    from transformers import AutoModel, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    model = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    found = []
    for text in TEXTS:
        ids = tokenizer(text)["input_ids"]
        with torch.no_grad():
            out = model(torch.tensor([ids]))
        ends = [row[:16] for row in (out.last_hidden_state[0, 0], out.last_hidden_state[0, -1])]
        found.append({"text": text, "ids": ids, "pooled": _rounded(out.pooler_output[0]), "ends": [_rounded(end) for end in ends]})
    return {"texts": found}


def continuations(folder: Path) -> dict[str, Any]:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    found = []
    for ids in PROMPTS:
        given = torch.tensor([ids])
        out = model.generate(given, attention_mask=torch.ones_like(given), max_new_tokens=NEW, do_sample=False, pad_token_id=0)
        found.append({"ids": ids, "new_ids": out[0, len(ids) :].tolist()})
    return {"prompts": found}


def _rounded(values: Any) -> list[float]:
    return [float(f"{value:.{SIGNIFICANT}g}") for value in values.tolist()]


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        expected = {"minilm": sentences(minilm(Path(work) / "minilm")), "smollm2": continuations(smollm2(Path(work) / "smollm2"))}
    TARGET.write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
