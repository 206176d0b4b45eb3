"""A published adapter (peft's folder) to an adapter in the language."""
