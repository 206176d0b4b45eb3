"""The weights of adapters: their files, and what they make of a model's own weights."""
