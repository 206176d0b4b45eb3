"""A LLaMA of a GGUF file as model.safetensors with the published names, its numbers widened to float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np

NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def convert(source: Path, target: Path) -> None:
    from gguf import GGUFReader
    from gguf.quants import dequantize
    from safetensors.numpy import save_file

    reader = GGUFReader(source)
    heads = {"attn_q": _count(reader, "head_count"), "attn_k": _count(reader, "head_count_kv")}
    tensors = {}
    for tensor in reader.tensors:
        values = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
        *layer, part, _ = tensor.name.split(".")
        if part in heads:
            values = unpermuted(values, heads[part])
        tensors[f"model.layers.{layer[1]}.{NAMES[part]}.weight" if layer else f"{WHOLE[part]}.weight"] = values
    save_file(tensors, target, {"format": "pt"})


def _count(reader, name: str) -> int:
    return int(reader.fields[f"llama.attention.{name}"].contents())


def unpermuted(values: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp rotates neighbouring channels, the published layout channels half a head apart: pairs back to halves."""
    rows, columns = values.shape
    pairs = values.reshape(heads, rows // heads // 2, 2, columns)
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows, columns)
