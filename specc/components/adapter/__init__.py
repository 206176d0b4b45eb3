"""Adapters: small trained parts over a model that stays as it is."""

MEMBERS = {
    "lora": "lora:LoRA",
}
