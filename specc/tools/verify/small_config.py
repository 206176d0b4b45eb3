"""A published config in small sizes, for a reference that computes in a moment."""

from __future__ import annotations

from typing import Any

from specc.ir.model import Model
from specc.tools.shrink import Plan, plan_of

WIDTHS = ("hidden_size", "n_embd", "d_model", "dim", "intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "d_ff", "word_embed_proj_dim")
HEADS = ("num_attention_heads", "n_head", "n_heads")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers")
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")
SPECIAL = ("bos_token_id", "eos_token_id", "pad_token_id", "mask_token_id", "sep_token_id", "cls_token_id")


def small_config(config: dict[str, Any], model: Model) -> dict[str, Any]:
    """The config of a model like `model`, as `shrink` would have it: the same ratios, a prefix of its layers."""
    plan, small = plan_of(model.stack), dict(config)
    heads, kv_heads = _heads(config, plan)
    depth = _depth(model)
    for name, value in config.items():
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        if name in WIDTHS:
            small[name] = plan.width(value)
        elif name in HEADS:
            small[name] = heads
        elif name == "num_key_value_heads":
            small[name] = kv_heads
        elif name in ("head_dim", "rotary_dim"):
            small[name] = plan.head_width(value)
        elif name in LAYERS:
            small[name] = depth
        elif name in LENGTHS:
            small[name] = plan.length(value)
        elif name == "vocab_size":
            small[name] = plan.count(value)
        elif name == "sliding_window":
            small[name] = plan.window(value)
        elif name == "query_pre_attn_scalar":
            small[name] = plan.head_width(value)
        elif name in SPECIAL and value >= plan.count(model.stack.dims.vocab or value + 1):
            small[name] = None
    if isinstance(config.get("layer_types"), list):
        small["layer_types"] = config["layer_types"][:depth]
    return small


def _heads(config: dict[str, Any], plan: Plan) -> tuple[int, int]:
    heads = next((config[name] for name in HEADS if isinstance(config.get(name), int)), 1)
    kv_heads = config.get("num_key_value_heads")
    return plan.heads(heads, kv_heads if isinstance(kv_heads, int) else heads)


def _depth(model: Model) -> int:
    """The shortest prefix that holds every kind of layer, at least two layers."""
    labels = [layer.label for layer in model.stack.layers]
    return min(len(labels), max(2, *(labels.index(label) + 1 for label in labels)))
