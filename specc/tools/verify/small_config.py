"""A published config in small sizes, for a reference that computes in a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specc.ir.model import Model, Stack
from specc.tools.shrink import Plan, plan_of

WIDTHS = """hidden_size n_embd d_model dim intermediate_size n_inner ffn_dim hidden_dim d_ff word_embed_proj_dim ffn_hidden_size
    moe_intermediate_size shared_expert_intermediate_size shared_intermediate_size q_lora_rank kv_lora_rank encoder_ffn_dim decoder_ffn_dim""".split()
HEAD_WIDTHS = "head_dim rotary_dim query_pre_attn_scalar qk_rope_head_dim qk_nope_head_dim v_head_dim d_kv".split()
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
STACKED = {"encoder": ("encoder_layers", "encoder_attention_heads"), "decoder": ("decoder_layers", "decoder_attention_heads")}  # of one stack
KV_HEADS = ("num_key_value_heads", "kv_n_heads", "num_kv_heads")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
WINDOWS = ("sliding_window", "local_attention", "attention_chunk_size", "original_max_position_embeddings")
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
CHOSEN = ("num_experts_per_tok", "moe_top_k")
STAGES = ("out_features", "out_indices", "stage_names", "_out_features", "_out_indices")  # of a backbone, by the numbers of layers
SPECIAL = ("bos_token_id", "eos_token_id", "pad_token_id", "mask_token_id", "sep_token_id", "cls_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id")


def small_config(config: dict[str, Any], model: Model) -> dict[str, Any]:
    """The config of a model like `model`, as `shrink` would have it: the same ratios, a prefix of its layers."""
    plan, depth = plan_of(model.stack), _depth(model.stacks[0])
    heads, kv_heads = _heads(config, plan)
    experts = _experts(config)

    def special(token: int) -> int | None:
        return token if token < plan.count(token + 1) else None

    def start(token: int) -> int:
        return special(token) or 0

    becomes: dict[str, Callable[[int], Any]] = dict.fromkeys(WIDTHS, plan.width)
    becomes |= dict.fromkeys(HEAD_WIDTHS, plan.head_width) | dict.fromkeys(LENGTHS, plan.length) | dict.fromkeys(WINDOWS, plan.window)
    becomes |= dict.fromkeys(HEADS, lambda _: heads) | dict.fromkeys(KV_HEADS, lambda _: kv_heads) | dict.fromkeys(LAYERS, lambda _: depth)
    becomes |= dict.fromkeys(EXPERTS, lambda number: min(number, experts)) | dict.fromkeys(SPECIAL, special) | dict.fromkeys(("vocab_size", "decoder_vocab_size"), plan.count)
    becomes["decoder_start_token_id"] = start
    for stack in model.stacks[: 2 * (model.encoder is not None)]:
        layers, of_heads = STACKED[stack.name]
        becomes |= {layers: lambda _, stack=stack: _depth(stack), of_heads: lambda n: plan.heads(n, n)[0]}
    if model.encoder is not None:
        becomes["num_decoder_layers"] = lambda _: _depth(model.stack)

    def small(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {inner: small(inner, held) for inner, held in value.items()}
        if isinstance(value, list):
            return _list(name, value, plan, depth)
        return becomes[name](value) if name in becomes and isinstance(value, int) and not isinstance(value, bool) else value

    return {name: small(name, value) for name, value in config.items() if name not in STAGES}


def _list(name: str, value: list[Any], plan: Plan, depth: int) -> list[Any]:
    if name == "layer_types":
        return value[:depth]
    if name in ("short_factor", "long_factor"):
        count = plan.head_width(2 * len(value)) // 2
        return value[:: max(1, len(value) // count)][:count]
    return value


def _found(config: dict[str, Any], names: tuple[str, ...]) -> int | None:
    """The first of these fields, in the config or in a part of it."""
    for part in (config, *(v for v in config.values() if isinstance(v, dict))):
        for name in names:
            if isinstance(part.get(name), int):
                return part[name]
    return None


def _heads(config: dict[str, Any], plan: Plan) -> tuple[int, int]:
    heads = _found(config, HEADS) or 1
    return plan.heads(heads, _found(config, KV_HEADS) or heads)


def _experts(config: dict[str, Any]) -> int:
    """As many groups, each with fewer experts."""
    chosen, groups, staying = _found(config, CHOSEN) or 1, _found(config, ("n_group",)) or 1, _found(config, ("topk_group",)) or 1
    return groups * max(4, 2 * -(-chosen // staying))


def _depth(stack: Stack) -> int:
    """The shortest prefix that holds every kind of layer, at least two layers."""
    labels = [layer.label for layer in stack.layers]
    return min(len(labels), max(2, *(labels.index(label) + 1 for label in labels)))
