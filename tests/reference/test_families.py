"""Every decoder family against transformers: a small random checkpoint, imported and built as a user would, in both back ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.importer.configs import FAMILIES, kind_of, published
from tests.importer.test_every_field import TINY
from tests.tolerance import TOLERANCE

transformers = pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")

from transformers.models.auto.modeling_auto import (  # noqa: E402
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from tests.reference.published import Ours, Reference, positions, write  # noqa: E402

# encoders with a mask of decoders, and decoders with an encoder, are held against the library elsewhere
OTHERS = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES, *MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES}
DECODERS = [family for family in FAMILIES if kind_of(family) in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.keys() - OTHERS]
# what shows more than the sizes of configs.py do: heads of a width of their own, a norm's eps, a window shorter than the text
VISIBLE = {"rms_norm_eps": 0.01, "layer_norm_eps": 0.01, "layer_norm_epsilon": 0.01, "norm_eps": 0.01, "sliding_window": 6, "head_dim": 24}
# the width of heads follows from something else, or a table that would grow with it
FIXED = {"head_dim": {"phi3", "deepseek_v2", "deepseek_v3", "gpt_bigcode", "helium", "minicpm3"}}
UNCACHED = {"openai_gpt"}  # the library's class keeps nothing
PIECES = [9, 4, 1]
BATCH, LENGTH, PADDING = 2, sum(PIECES), 5


def config_of(family: str):
    base = published(family, **TINY.get(family, {}))
    more = {n: v for n, v in VISIBLE.items() if base.get(n) is not None and n not in TINY.get(family, {}) and family not in FIXED.get(n, ())}
    fields = published(family, **TINY.get(family, {}) | more)
    return transformers.AutoConfig.for_model(**fields)


@pytest.mark.parametrize("family", DECODERS)
def test_a_family_computes_what_is_published(family: str, tmp_path: Path) -> None:
    config = config_of(family)
    folder = write(tmp_path / "published", config)
    reference, ours = Reference(folder), Ours(folder, tmp_path)
    ids = np.random.default_rng(3).integers(4, min(config.vocab_size, 190), (BATCH, LENGTH))
    whole = np.ones_like(ids)
    padded = whole.copy()
    padded[1, :PADDING] = 0
    assert positions(padded)[1, PADDING + 1] == 1
    want = reference.full(ids, whole)
    for got in (ours.torch_full(ids, whole), ours.onnx_full(ids, whole)):
        assert far(got, want) <= TOLERANCE["float32"]
    real = padded.astype(bool)
    want = reference.full(ids, padded)[real]
    for got in (ours.torch_full(ids, padded), ours.onnx_full(ids, padded)):
        assert far(got[real], want) <= TOLERANCE["float32"]
    want = reference.full(ids, whole) if family in UNCACHED else reference.steps(ids, whole, PIECES)
    for got in (ours.torch_steps(ids, whole, PIECES), ours.onnx_steps(ids, whole, PIECES)):
        assert far(got, want) <= TOLERANCE["float32"]


def far(got: np.ndarray, want: np.ndarray) -> float:
    return float(np.abs(got - want).max() / max(1.0, np.abs(want).max()))
