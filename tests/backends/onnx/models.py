"""Small models of every kind that the graph treats in its own way, and their drawn weights saved in any type and layout."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from specc.ir.model import Model
from specc.weights.arrays import narrowed, widened
from specc.weights.checkpoint import OWN, PUBLISHED, open_checkpoint
from specc.weights.convert import to_published
from specc.weights.own import layout
from tests.components.probe import spec
from tests.harness import draw, model_of

_FUSED = """weights hf {
    root = "t." | ""
    embed.tokens             = "wte"
    layers[i].norm.attention = "h.{i}.ln_1"
    layers[i].attention.qkv  = QKV
    layers[i].attention.o    = "h.{i}.out"
    layers[i].norm.ffn       = "h.{i}.ln_2"
    FFN
    final_norm               = "ln_f"
  }"""
_GATED = 'layers[i].ffn.gate_up = fused("h.{i}.gate_up", order: [gate, up])\n    layers[i].ffn.down = transpose("h.{i}.down")'
_STACKED = """layers[i].ffn.router = "h.{i}.router"
    layers[i].ffn.experts[e].gate_up = interleaved(transpose(stacked("h.{i}.experts_gate_up")), order: [gate, up])
    layers[i].ffn.experts[e].down    = transpose(stacked("h.{i}.experts_down"))"""


def _fused(qkv: str, rules: str = _GATED, **fields: str) -> str:
    section = _FUSED.replace("QKV", qkv).replace("FFN", rules)
    return spec(section, **{"ffn": "gated(hidden: 20, activation: silu)", "head": "lm(tied: true)"} | fields)


def _rope(arguments: str, **fields: str) -> str:
    return spec(position=f"rope(theta: 100, {arguments})", attention="attention(heads: 4, kv_heads: 2, head_dim: 8)", **fields)


_BIASED = "attention(heads: 4, kv_heads: 2, head_dim: 6, bias: true)"
_MLA = "heads: 3, kv_rank: 6, nope_dim: 4, rope_dim: 6, value_dim: 5, latent_norm: rms(eps: 1e-5)"
_ROUTED = "moe(experts: 4, top_k: 2, expert: gated(hidden: 10, activation: silu), router: "

SPECS = {
    "grouped": spec(attention="attention(heads: 4, kv_heads: 2, head_dim: 6, bias: true)", head="lm(tied: false)"),
    "one_key_head": spec(attention="attention(heads: 4, kv_heads: 1, head_dim: 6)", ffn="gated(hidden: 20, activation: gelu)"),
    "sliding": spec("layer near { mask = sliding(4) }  layer far { mask = causal }  layers = [near, far]"),
    "chunked": spec(mask="chunked(5)", attention="attention(heads: 4, kv_heads: 2, head_dim: 6)"),
    "window": spec(mask="window(2, 1)", head="classify_tokens(3)"),
    "interleaved": _rope("layout: interleaved, partial: 4"),
    "yarn": _rope("scaling: yarn(factor: 4, original: 8)"),
    "dynamic": _rope("scaling: dynamic(factor: 3, original: 32)"),
    "llama3": _rope("scaling: llama3(factor: 4, low: 1, high: 4, original: 8)"),
    "longrope": _rope("scaling: longrope(short: [1, 1, 1, 2], long: [1, 2, 3, 4], factor: 2, original: 32)"),
    "alibi": spec(position="alibi", attention="attention(heads: 6, head_dim: 4)"),
    "mla": spec(attention=f"mla({_MLA}, q_rank: 7)", head="lm(tied: false)"),
    "moe": spec(ffn=_ROUTED + "softmax(normalize: true), shared: gated(hidden: 7, activation: silu), shared_gate: true)"),
    "moe_sigmoid": spec(ffn=_ROUTED + "sigmoid(normalize: true))"),
    "sinks": spec(attention="attention(heads: 4, kv_heads: 2, head_dim: 6, sinks: true)", mask="sliding(5)"),
    "capped": spec(attention="attention(heads: 4, head_dim: 6, softcap: 3, qk_norm: rms(eps: 1e-5))", head="lm(tied: true, softcap: 5)"),
    "scaled": spec(embed="tokens(scale: 3.3)"),
    "tied": spec(embed="tokens() + learned_position()", position="none", norm="layer(eps: 1e-5)", head="lm(tied: true)"),
    "sandwich": spec(block="sandwich_norm", norm="rms(eps: 1e-6, offset: 1)", embed="4 * tokens()"),
    "parallel": spec(block="parallel", attention="attention(heads: 4, head_dim: 4, clip: 2)"),
    "encoder": spec(
        embed="norm.embed(tokens() + learned_position() + segments(2))", position="none", mask="bidirectional", norm="layer(eps: 1e-12)",
        block="post_norm", head="mlm(tied: true, activation: gelu, norm: layer(eps: 1e-12))",
    ),
    "classifier": spec(mask="bidirectional", head="classify(3, pool: mean)"),
    "last_token": spec(head="classify(3, pool: last, bias: false)"),
    "fused_transposed": _fused('fused(transpose("h.{i}.qkv"), order: [q, k, v])'),
    "fused_rows": _fused('fused("h.{i}.qkv", order: [q, k, v])', attention=_BIASED),
    "fused_turns": _fused('fused("h.{i}.qkv", order: [q, k, v], groups: 2)', attention=_BIASED),
    "fused_stacked": _fused('fused("h.{i}.qkv", order: [q, k, v])', _STACKED, ffn=_ROUTED + "softmax(order: top_k_first))"),
}  # fmt: skip
FUSED = tuple(name for name in SPECS if name.startswith("fused_"))
BIDIRECTIONAL = ("encoder", "classifier", "window")
ONE_VECTOR = ("classifier", "last_token")  # their output is one vector for the whole sequence

Types = Callable[[str], str]  # a parameter's key to the type it is stored in


def all_of(dtype: str) -> Types:
    return lambda key: dtype


FLOAT32 = all_of("F32")


def mixed(key: str) -> str:
    """Norms in F32, attention in BF16, all else in F16: as some published checkpoints are."""
    return "F32" if "norm" in key else "BF16" if "attention" in key else "F16"


@cache
def model(name: str) -> Model:
    return model_of(SPECS[name])


def weights(name: str, types: Types = FLOAT32) -> dict[str, np.ndarray]:
    """float32 numbers that the stored types hold exactly."""
    found = {}
    for key, array in draw(model(name)).items():
        dtype = types(key)
        found[key] = array if dtype == "F32" else widened(narrowed(array, dtype), dtype)
    return found


def save(name: str, folder: Path, types: Types = FLOAT32, shards: int = 1) -> Path:
    """A checkpoint in the published layout where the spec has one, else in specc's own; several shards have an index."""
    found = weights(name, types)
    own = folder if not model(name).weights else folder.with_name(f"{folder.name}-own")
    write(own / OWN, {key: (types(key), narrowed(array, types(key))) for key, array in found.items()})
    if own != folder:
        to_published(model(name), open_checkpoint(own), folder)
        shutil.rmtree(own)
    if shards > 1:
        shard(folder, shards)
    return folder


def write(path: Path, arrays: dict[str, tuple[str, np.ndarray]]) -> None:
    header, tensors = layout(((name, dtype, array.shape) for name, (dtype, array) in arrays.items()), path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + b"".join(arrays[name][1].tobytes() for name in tensors))


def shard(folder: Path, count: int) -> None:
    """The one file of a checkpoint as several, with the index that names them."""
    source = next(folder.glob("*.safetensors"))
    content, tensors, places = source.read_bytes(), open_checkpoint(folder).tensors, {}
    for number in range(count):
        file = f"model-{number + 1:05}-of-{count:05}.safetensors"
        mine = dict(list(tensors.items())[number::count])
        arrays = {name: (t.dtype, np.frombuffer(content[t.offset : t.offset + t.length], np.uint8)) for name, t in mine.items()}
        header, order = layout(((name, t.dtype, t.shape) for name, t in mine.items()), folder / file)
        (folder / file).write_bytes(header + b"".join(arrays[name][1].tobytes() for name in order))
        places |= dict.fromkeys(mine, file)
    source.unlink()
    (folder / f"{PUBLISHED}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
