"""Finding the family file of a model type."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from specc.diagnostics.finding import did_you_mean, fail
from specc.resolve.program import Program, load
from specc.resources import SPECS
from specc.syntax import tree

DEFINITION = re.compile(r"^model (\w+)\(", re.MULTILINE)
READ = re.compile(r"\bconfig\.(\w+)")

# what other published types are built of; a type that is missing here lacks nothing but a family file, as far as is known
MECHANISMS = {
    "state-space layers": "mamba mamba2 falcon_mamba jamba bamba zamba zamba2 nemotron_h granitemoehybrid plamo2",
    "recurrent layers": "recurrent_gemma rwkv rwkv6 xlstm",
    "short convolutions": "lfm2 lfm2_moe",
    "gated delta layers": "qwen3_next qwen3_5 qwen3_5_moe kimi_linear",
    "relative positions inside attention": "transfo_xl deberta funnel",
    "linear maps stored apart by heads": "xlnet",
    "local attention with global tokens": "led big_bird",
    "mixture-of-attention heads": "jetmoe",
    "attention over blocks, in an encoder with a decoder": "longt5 led",
    "images and text together": "llava mllama florence2 qwen2_vl qwen2_5_vl gemma3 gemma4 llama4",
    "sound": "wav2vec2 hubert whisper",
}  # fmt: skip


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text() for path in sorted((SPECS / "families").glob("*.specc"))}


def known_types() -> list[str]:
    """Every model type that a family file describes, with underscores for hyphens."""
    return sorted(name for text in _texts().values() for name in DEFINITION.findall(text))


def fields_read_by_any() -> frozenset[str]:
    """The config fields that at least one family reads: to drop one of them silently would be a fault."""
    return frozenset(name for text in _texts().values() for name in READ.findall(text))


def family_of(model_type: str) -> tuple[Program, tree.Model]:
    """The family of a model type. Raises SpecError where there is none."""
    name = re.sub(r"\W", "_", model_type)
    for path, text in _texts().items():
        if name in DEFINITION.findall(text):
            program = load(path)
            return program, program.models[name]
    built_of = next((words for words, kinds in MECHANISMS.items() if name in kinds.split()), None)
    because = f": it is built of {built_of}" if built_of else ""
    raise fail("CFG004", f"specc has no family for the model type `{model_type[:80]}`{because}", None, None if built_of else did_you_mean(name, known_types()))
