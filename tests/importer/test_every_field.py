"""No field of a published config is ignored: where changing one changes the reference's numbers, it changes specc's model, or is refused.

For every family, every field of the config that transformers writes is given other values, one at a time. The reference is
a model of that config with weights drawn by name and shape, run once on a few tokens: its answer differs where a shape or a
number does. Values with which the reference cannot be built are no models, and are left out.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from specc.diagnostics import Report, SpecError
from specc.ir.fingerprint import fingerprint
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.source import Source
from specc.tools.importer.run import import_model
from tests.importer.configs import FAMILIES, kind_of, published

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
no_init_weights = pytest.importorskip("transformers.initialization").no_init_weights

LENGTH = 20
SEQ2SEQ = ("bart", "m2m_100", "marian", "mbart", "mt5", "pegasus", "switch_transformers", "t5", "t5gemma", "umt5")
MASKED = ("albert", "bert", "camembert", "deberta_v2", "distilbert", "electra", "esm", "longformer", "megatron_bert", "modernbert", "mpnet",
          "nomic_bert", "roberta", "roformer", "xlm_roberta")  # fmt: skip
IMAGES = ("beit", "clip", "deit", "dinov2", "dinov2_with_registers", "siglip", "vit")  # as classifiers
IDLE = ("mask_token", "vision_model.head.")  # parameters that no number of these classes depends on
TOWERS = ("clip_vision_model", "siglip_vision_model")
# families with other configs than that of configs.py, or with several: fields that have an effect in them alone
SMALL_WINDOW = {"sliding_window": 6}
MORE: dict[str, list[dict[str, Any]]] = {
    "beit": [{}, {"use_mean_pooling": False, "layer_scale_init_value": 0.0, "use_relative_position_bias": False, "use_shared_relative_position_bias": True}],
    "cohere2": [SMALL_WINDOW],
    "deberta_v2": [{}, {"share_att_key": False}, {"relative_attention": False, "pos_att_type": None, "position_biased_input": True}],
    "ernie4_5_moe": [{}, {"moe_layer_end_index": 2}, {"moe_norm_min": 0.9}],
    "esm": [{}, {"position_embedding_type": "absolute", "emb_layer_norm_before": True}],
    "exaone4": [SMALL_WINDOW],
    "falcon": [{}, {"new_decoder_architecture": True, "num_kv_heads": 2}, {"parallel_attn": False, "multi_query": False}],
    "gemma2": [SMALL_WINDOW],
    "gemma3_text": [SMALL_WINDOW],
    "gpt_oss": [SMALL_WINDOW],
    "marian": [{}, {"share_encoder_decoder_embeddings": False}],
    "ministral": [SMALL_WINDOW],
    "mistral": [SMALL_WINDOW],
    "mixtral": [SMALL_WINDOW],
    "opt": [{}, {"do_layer_norm_before": False, "word_embed_proj_dim": 64}],
    "phi3": [SMALL_WINDOW],
    "qwen2": [{}, {"use_sliding_window": True, "max_window_layers": 2, "sliding_window": 6}],
    "qwen2_moe": [{}, {"decoder_sparse_step": 2}],
    "qwen3": [{}, {"use_sliding_window": True, "max_window_layers": 2, "sliding_window": 6}],
    "smollm3": [{}, {"use_sliding_window": True, "max_window_layers": 2, "sliding_window": 6}],
    "stablelm": [{}, {"qk_layernorm": True}],
    "starcoder2": [SMALL_WINDOW],
    "t5": [{}, {"feed_forward_proj": "gated-gelu"}],
}
# sizes that keep the reference quick
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10_000.0}
SMALL_STACKS = {f"{stack}_{name}": value for stack in ("encoder", "decoder") for name, value in (("layers", 2), ("ffn_dim", 96), ("attention_heads", 4))}
TINY: dict[str, dict[str, Any]] = {
    "bart": SMALL_STACKS,
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "clip_qkv": 0.5, "rope_theta": 10_000.0},
        "ffn_config": {"ffn_hidden_size": 96, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "deepseek_v2": {"num_key_value_heads": 4},
    "deepseek_v3": {"num_key_value_heads": 4},
    "glm4": {"pad_token_id": 1, "head_dim": 24},
    "m2m_100": SMALL_STACKS,
    "marian": SMALL_STACKS | {"pad_token_id": 1, "decoder_vocab_size": 199},
    "mbart": SMALL_STACKS,
    "ministral": {"rope_parameters": PLAIN_ROPE, "head_dim": 24},
    "modernbert": {"pad_token_id": 1, "cls_token_id": 2, "sep_token_id": 2},
    "modernbert_decoder": {"pad_token_id": 1, "cls_token_id": 2, "sep_token_id": 2},
    "olmoe": {"num_experts": 4, "num_experts_per_tok": 2},
    "pegasus": SMALL_STACKS,
    "qwen2_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 48},
    "qwen3_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 24},
    "smollm3": {"pad_token_id": 1},
}
# fields that only say under which names a checkpoint holds its tensors, which the weights map follows
NAMES_ONLY = {("deberta_v2", "legacy")}
NO_ARCHITECTURE = {"architectures", "model_type", "transformers_version", "dtype", "id2label", "label2id", "torch_dtype"}
# fields of every config of the library: tried in two families only, but for those that a model may read
LIBRARY = transformers.PreTrainedConfig().to_dict().keys() - {
    "pad_token_id",
    "tie_word_embeddings",
    "is_decoder",
    "chunk_size_feed_forward",
}
WITH_LIBRARY = ("bert", "llama")
ACTIVATIONS = ("relu", "gelu", "silu", "gelu_pytorch_tanh")
ROPES = (
    {"rope_type": "linear", "factor": 3.0},
    {"rope_type": "dynamic", "factor": 3.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8},
)


def others(name: str, value: Any) -> Iterator[Any]:
    """Other plausible values of a field."""
    match value:
        case bool():
            yield not value
        case int():
            yield from dict.fromkeys(n for n in (5 if value > 40 else value + 1, 2 * value, 1) if n != value)
        case float():
            yield from (value * 2, value * 0.5) if value else (0.5,)
        case str():
            yield from (a for a in ACTIVATIONS if a != value and ("act" in name or name == "afn"))
        case None:
            yield from (True, 6, 0.05, "relu")
        case list() if value:
            yield value[::-1]
            yield [value[0]] * len(value)
            yield [value[-1]] * len(value)
            if all(isinstance(v, int) for v in value):
                yield [int(not v) for v in value]
        case list():
            yield [1]
        case dict() if "rope_type" in value:
            yield from (dict(value) | {n: o} for n, v in value.items() if isinstance(v, float) for o in (v * 2, v / 2))
            if value["rope_type"] == "default":
                yield from (value | rope for rope in ROPES)
        case dict():
            yield from (value | {n: o} for n, v in value.items() if n not in NO_ARCHITECTURE for o in others(n, v))


def answer(family: str, config: dict[str, Any]) -> dict[str, Any] | None:
    """Shapes and numbers of the reference, None where there is no such model."""
    given = {n: v for n, v in copy.deepcopy(config).items() if n not in ("model_type", *["architectures"] * (family not in IMAGES))}
    auto = getattr(transformers, f"AutoModel{_task(family)}")
    try:
        with warnings.catch_warnings(), no_init_weights():
            warnings.simplefilter("ignore")
            made = transformers.AutoConfig.for_model(kind_of(family), **given)
            model = auto.from_config(made, attn_implementation="eager")
        model = model.float().eval()
        with torch.no_grad():
            for name, tensor in [*model.named_parameters(), *((n, b) for n, b in model.named_buffers() if n.endswith("correction_bias"))]:
                noise = np.random.default_rng([crc32(name.encode()), *tensor.shape]).standard_normal(tuple(tensor.shape))
                tensor.copy_(torch.from_numpy(noise * 0.3 + 0.1 * (tensor.dim() == 1)))
            ids = torch.from_numpy(np.random.default_rng(1).integers(5, 100, (1, LENGTH)))
            if family in (*IMAGES, *TOWERS):
                looks = made.vision_config if hasattr(made, "vision_config") else made
                size = looks.image_size if isinstance(looks.image_size, int) else looks.image_size[0]
                pixels = np.random.default_rng(1).standard_normal((1, looks.num_channels, size, size)).astype(np.float32)
                out = model(pixel_values=torch.from_numpy(pixels))
                logits = (out.pooler_output if family in TOWERS else out.logits).numpy()
            else:
                target = {"decoder_input_ids": ids.flip(1)[:, :9]} if family in SEQ2SEQ else {}
                logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), **target).logits.numpy()
    except Exception:  # whatever the library says, this is no model
        return None
    if not np.isfinite(logits).all():
        return None
    return {name: tuple(p.shape) for name, p in model.named_parameters() if not any(word in name for word in IDLE)} | {"logits": logits}


def differ(a: dict[str, Any], b: dict[str, Any]) -> bool:
    if {n: v for n, v in a.items() if n != "logits"} != {n: v for n, v in b.items() if n != "logits"}:
        return True
    return bool(np.abs(a["logits"] - b["logits"]).max() > 1e-4 * np.abs(a["logits"]).max())


def imported(config: dict[str, Any], folder: Path) -> str | None:
    """The fingerprint of what specc makes of a config, None where it refuses it."""
    (folder / "config.json").write_text(json.dumps(config))
    try:
        text = import_model(folder, "imported").text
    except SpecError:
        return None
    program = load_source(Source("imported.specc", text), Path("imported.specc"))
    return fingerprint(resolve(program.models["imported"], program, Report()).model)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_field_is_ignored(family: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    ignored, seen = [], 0
    for more in MORE.get(family, [{}]):
        base = published(family, **TINY.get(family, {}) | more)
        base |= _classes(family)
        before, ours = answer(family, base), imported(base, tmp_path)
        assert before is not None and ours is not None
        for name in sorted(base.keys() - NO_ARCHITECTURE - (set() if family in WITH_LIBRARY else LIBRARY)):
            for value in others(name, base[name]) if (family, name) not in NAMES_ONLY else ():
                changed = base | {name: value}
                after = answer(family, changed)
                if after is None or not differ(before, after):
                    continue
                seen += 1
                if imported(changed, tmp_path) == ours:
                    ignored.append(f"{name} = {value!r} (from {base[name]!r})")
                if not isinstance(base[name], (dict, list)):
                    break  # one visible value of a plain field is enough
    assert seen > 4
    assert not ignored, f"these change the published model and not specc's: {'; '.join(ignored)}"


def _task(family: str) -> str:
    """What the reference's class is for."""
    special = dict.fromkeys(MASKED, "ForMaskedLM") | dict.fromkeys(IMAGES, "ForImageClassification") | dict.fromkeys(TOWERS, "")
    special |= dict.fromkeys(SEQ2SEQ, "ForSeq2SeqLM")
    return special.get(family, "ForCausalLM")


def _classes(family: str) -> dict[str, list[str]]:
    """The class that a config names, where the family has several."""
    from transformers.models.auto import modeling_auto

    names = {"ForMaskedLM": "MODEL_FOR_MASKED_LM_MAPPING_NAMES", "ForImageClassification": "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES"}
    if (task := _task(family)) not in names:
        return {}
    found = getattr(modeling_auto, names[task])[kind_of(family)]
    return {"architectures": [found if isinstance(found, str) else found[0]]}
