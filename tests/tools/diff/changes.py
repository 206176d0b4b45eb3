"""A small model, and changed texts of it, compared."""

from __future__ import annotations

from specc.tools.diff.models import compare
from specc.tools.diff.reason import Difference
from tests.tools.diff.test_fields import resolved

TEXT = """\
block own(x) {
  final_norm = norm
  h = norm.first(x)
  x = x + attention(h)
  x = x + ffn(norm.second(x))
}

## A model
model m {
  vocab     = 24
  dim       = 16
  depth     = 4
  context   = 32
  embed     = norm.embed(tokens() + learned_position(length: 32))
  position  = rope(theta: 100)
  mask      = causal
  norm      = layer(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2)
  ffn       = gated(hidden: 16, activation: silu)
  block     = own
  head      = lm(tied: true)

  layer near { mask = sliding(4) }
  layer far  { mask = causal }
  layers = repeat [near, far]

  checks { depth == 4 }

  weights hf {
    root   = "model." | ""
    ignore = ["mask"]
    embed.tokens             = "wte" | "/lm_head"
    embed.learned_position   = "wpe"
    norm.embed               = "ln_e"
    layers[i].norm.first     = "h.{i}.ln_1"
    layers[i].attention.qkv  = fused(transpose("h.{i}.attn"), order: [q, k, v])
    layers[i].attention.o    = transpose("h.{i}.proj")
    layers[i].norm.second    = "h.{i}.ln_2"
    layers[i].ffn.gate       = "h.{i}.gate"
    layers[i].ffn.up         = "h.{i}.up"
    layers[i].ffn.down       = "h.{i}.down"
    final_norm               = "ln_f"
  }
}
"""
Changes = list[tuple[str, str]]


def changed(changes: Changes, text: str = TEXT) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def difference(changes: Changes, text: str = TEXT) -> Difference:
    return compare(resolved(text), resolved(changed(changes, text)))
