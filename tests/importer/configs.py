"""Small published configs, one for each family: what transformers writes for the type, at sizes that resolve quickly."""

from __future__ import annotations

import re

from specc.tools.importer.families import known_types

SMALL = {
    "hidden_size": 64, "n_embd": 64, "d_model": 64, "dim": 64, "num_hidden_layers": 4, "n_layer": 4, "n_layers": 4, "num_layers": 4,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "attention_heads": 4, "num_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 96, "ffn_dim": 96, "hidden_dim": 96, "vocab_size": 199, "word_embed_proj_dim": 32,
}  # fmt: skip
VISION = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 96, "image_size": 32, "patch_size": 8}
GEMMA_STACK = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96,
    "vocab_size": 199, "sliding_window": 6, "query_pre_attn_scalar": 16, "max_position_embeddings": 64,
    "attn_logit_softcapping": 2.0, "final_logit_softcapping": 2.0,
}  # fmt: skip
OWN = {
    "t5gemma": {"encoder": GEMMA_STACK, "decoder": GEMMA_STACK, "vocab_size": 199},
    "switch_transformers": {"num_experts": 4, "num_decoder_layers": 4, "d_ff": 96, "d_kv": 16},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]], "window_size": 8},
    "gptj": {"rotary_dim": 8},
    "codegen": {"rotary_dim": 8},
    "gpt_oss": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "deepseek_v2": {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1},
    "deepseek_v3": {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1},
    "glm4_moe": {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_group": 2, "topk_group": 1},
    "ernie4_5_moe": {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 32, "moe_num_shared_experts": 1},
    "glm": {"pad_token_id": 1, "head_dim": 24},
    "helium": {"head_dim": 16},
    "hunyuan_v1_dense": {"head_dim": 24},
    "minicpm3": {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 12, "num_key_value_heads": 4},
    "seed_oss": {"head_dim": 24},
    "llama4_text": {"num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size_mlp": 80, "attention_chunk_size": 8, "floor_scale": 4, "attn_scale": 0.5, "interleave_moe_layer_step": 2, "head_dim": 24, "pad_token_id": 1},
    "minimax_m2": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "beit": {"image_size": 32, "patch_size": 8, "use_relative_position_bias": True, "use_absolute_position_embeddings": True},
    "vit": {"image_size": 32, "patch_size": 8},
    "deit": {"image_size": 32, "patch_size": 8},
    "dinov2": {"image_size": 32, "patch_size": 8},
    "dinov2_with_registers": {"image_size": 32, "patch_size": 8},
    "clip": {"vision_config": VISION, "architectures": ["CLIPForImageClassification"]},
    "siglip": {"vision_config": VISION, "architectures": ["SiglipForImageClassification"]},
    "clip_vision_model": {"image_size": 32, "patch_size": 8},
    "siglip_vision_model": {"image_size": 32, "patch_size": 8},
    "esm": {"pad_token_id": 1, "mask_token_id": 40, "position_embedding_type": "rotary", "token_dropout": True, "max_position_embeddings": 64},
    "deberta_v2": {"relative_attention": True, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "max_position_embeddings": 64},
    "phi3": {"pad_token_id": 1},
    "falcon": {"num_attention_heads": 4},
    "longformer": {"attention_window": [4, 8, 4, 8]},
    "modernbert": {"pad_token_id": 1},
    "modernbert_decoder": {"pad_token_id": 1},
}  # fmt: skip


def kind_of(family: str) -> str:
    """The model type as the library spells it: families have underscores for hyphens."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return next(kind for kind in CONFIG_MAPPING_NAMES if re.sub(r"\W", "_", kind) == family)


def published(family: str, **more: object) -> dict:
    """The config that transformers writes for a family, every field stated; `more` over the small sizes."""
    import transformers

    kind = kind_of(family)
    known = transformers.AutoConfig.for_model(kind).to_dict()
    given = {name: value for name, value in SMALL.items() if name in known} | OWN.get(family, {}) | more
    return transformers.AutoConfig.for_model(kind, **given).to_dict()


FAMILIES = known_types()
