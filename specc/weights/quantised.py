"""Recognises quantised checkpoints by the types and the names of their tensors, so that each is refused by its name."""

from __future__ import annotations

from collections.abc import Mapping

from specc.weights.safetensors import TensorInfo

# The last part of a tensor's name, and the kind that it gives away. Names that plain models use too are not listed.
_ENDINGS = {
    "g_idx": "GPTQ",
    "qweight": "GPTQ or AWQ",
    "qzeros": "GPTQ or AWQ",
    "absmax": "bitsandbytes 4-bit",
    "quant_map": "bitsandbytes 4-bit",
    "nested_absmax": "bitsandbytes 4-bit",
    "SCB": "bitsandbytes 8-bit",
    "weight_scale_inv": "fp8 with block scales",
    "weight_scale": "compressed-tensors",
    "weight_packed": "compressed-tensors",
    "weight_zero_point": "compressed-tensors",
}
_TYPES = {"F8": "fp8", "F6": "fp6", "F4": "fp4"}  # before the `_`: F64 is no F6


def kinds(tensors: Mapping[str, TensorInfo]) -> list[str]:
    """Every kind of quantisation found, with a tensor that shows it; empty for a plain checkpoint."""
    found: dict[str, str] = {}
    for name, tensor in tensors.items():
        if kind := _kind(name, tensor, tensors):
            found.setdefault(kind, name)
    if "GPTQ" in found:
        found.pop("GPTQ or AWQ", None)
    return [f"{kind} (tensor `{name}`)" for kind, name in sorted(found.items())]


def _kind(name: str, tensor: TensorInfo, tensors: Mapping[str, TensorInfo]) -> str | None:
    stem, _, last = name.rpartition(".")
    if last == "scales" and f"{stem}.qweight" in tensors:
        return "GPTQ or AWQ"
    if ".quant_state." in name:
        return "bitsandbytes 4-bit"
    if name.endswith("_blocks") and name.removesuffix("_blocks") + "_scales" in tensors:
        return "mxfp4"
    if last in _ENDINGS:
        return _ENDINGS[last]
    return _TYPES.get(tensor.dtype.partition("_")[0])
