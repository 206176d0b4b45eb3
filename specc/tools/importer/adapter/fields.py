"""What each field of an adapter_config.json is to an import; a field that stands nowhere here is named in a warning.

Facts about peft 0.21. `KINDS` names the types that have a method in the language.
"""

from __future__ import annotations

from typing import Any

KINDS = {"LORA": "lora", "IA3": "ia3", "PREFIX_TUNING": "prefix", "PROMPT_TUNING": "prompt", "P_TUNING": "prompt"}

# read, and held against the tensors of the file
USED = frozenset({
    "peft_type", "r", "lora_alpha", "rank_pattern", "alpha_pattern", "use_rslora", "use_dora", "lora_dropout", "target_modules",
    "target_parameters", "exclude_modules", "layers_to_transform", "feedforward_modules", "num_virtual_tokens", "num_attention_heads",
    "num_layers", "token_dim", "prefix_projection",
})  # fmt: skip

# of where the model and its code come from, of how training began or which libraries took part: no number of the result depends on it.
# fan_in_fan_out says how the model stores its maps, which the model's own spec knows.
MEANINGLESS = frozenset({
    "auto_mapping", "base_model_name_or_path", "revision", "inference_mode", "peft_version", "task_type", "fan_in_fan_out", "megatron_core",
    "megatron_config", "loftq_config", "eva_config", "corda_config", "lora_ga_config", "init_ia3_weights", "init_weights", "encoder_hidden_size",
    "encoder_reparameterization_type", "encoder_num_layers", "encoder_dropout", "num_transformer_submodules", "prompt_tuning_init",
    "prompt_tuning_init_text", "prompt_tuning_init_state_dict_path", "tokenizer_name_or_path", "tokenizer_kwargs", "runtime_config",
    "modules_tie", "low_cpu_mem_usage", "qalora_group_size", "torch_dtype",
})  # fmt: skip

# refused at any other value than these, with what they would ask for
NEUTRAL: dict[str, tuple[tuple[Any, ...], str]] = {
    "bias": (("none",), "trained biases of the model itself"),
    "lora_bias": ((False,), "a bias beside B"),
    "modules_to_save": ((None, []), "modules that are trained as a whole"),
    "trainable_token_indices": ((None, []), "single rows of the token table that are trained"),
    "layer_replication": ((None, []), "layers that stand several times"),
    "layers_pattern": ((None, "", []), "another name for the list of layers"),
    "init_lora_weights": ((True, False, "gaussian", "eva"), "a beginning that changes the model's own weights"),
    "use_qalora": ((False, None), "quantisation-aware updates"),
    "use_bdlora": ((False, None), "block-diagonal updates"),
    "ensure_weight_tying": ((False, None), "an update that a tied head shares"),
    "alora_invocation_tokens": ((None, []), "an adapter that some tokens switch on"),
    "arrow_config": ((None,), "routing between adapters"),
    "velora_config": ((None,), "compressed activations"),
    "kasa_config": ((None,), "knowledge-aware singular values"),
    "monteclora_config": ((None,), "sampled updates"),
    "multitask": ((False, None), "prompts of several tasks"),
    "num_tasks": ((None, 1), "prompts of several tasks"),
}
