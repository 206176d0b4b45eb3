"""Fields of published configs that say nothing about the architecture, and the values at which others say nothing."""

from __future__ import annotations

import re
from typing import Any

# of the tokenizer, of generation, of training bookkeeping, of the library that wrote the file
MEANINGLESS = frozenset(
    """_attn_implementation _attn_implementation_autoset _commit_hash _name_or_path attn_implementation bad_words_ids
    begin_suppress_tokens bos_token_id cache_implementation decoder_start_token_id do_sample dtype early_stopping eos_token_id
    eos_token_ids exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id gradient_checkpointing
    id2label initializer_factor initializer_range label2id length_penalty max_length min_length model_type mask_token_id
    no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_past output_scores pad_token_id prefix pretraining_tp
    problem_type remove_invalid_values repetition_penalty return_dict return_dict_in_generate sep_token_id suppress_tokens
    task_specific_params temperature tf_legacy_loss tokenizer_class top_k top_p torch_dtype torchscript transformers_version
    typical_p unsloth_fixed unsloth_version use_bfloat16 use_cache use_flash_attention use_flash_attn encoder_no_repeat_ngram_size
    diversity_penalty num_labels""".split()
)

# of training: how much is dropped, what the losses weigh, how tables start; and heads of which no checkpoint exists
TRAINING = re.compile(
    r".*drop(out|_?path|_prob)?(_.*)?|.*pdrop|layerdrop|summary_.*|init(ializer)?_(std|config|device|method)|router_aux_loss_coef|"
    r"output_router_logits|router_jitter_noise|aux_loss_alpha|seq_aux|moe_jitter_eps|moe_loss_weight|z_loss.*"
)

# fields of the library's base class: harmless at these values, and a different model at any other
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,),
    "chunk_size_feed_forward": (0,),
    "cross_attention_hidden_size": (),
    "is_causal": (True,),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "output_attentions": (False,),
    "output_hidden_states": (False,),
    "pruned_heads": ({},),
    "sparsity_config": (),
    "tie_encoder_decoder": (False,),
    "gradient_checkpointing": (False, True),
}

ALWAYS_NAMED = {
    "quantization_config": "the checkpoint is quantised, and specc reads fp32, fp16 and bf16 weights",
    "auto_map": "the model brings code of its own, which specc does not run; the config is read as its model_type says",
}
