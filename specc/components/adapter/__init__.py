"""Adapters: small trained parts over a model that stays as it is."""

MEMBERS = {
    "bottleneck": "bottleneck:Bottleneck",
    "ia3": "ia3:IA3",
    "lora": "lora:LoRA",
    "prefix": "prefix:Prefix",
    "prompt": "prompt:Prompt",
}
