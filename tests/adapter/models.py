"""Small models for adapters: more query heads than key heads, heads wider than width over heads, a tied head."""

TINY = """
model tiny {
  vocab = 61  dim = 32  depth = 2  context = 64
  position = rope(theta: 10_000)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2, head_dim: 16)
  ffn = gated(hidden: 48, activation: silu)
  block = pre_norm  head = lm(tied: true)
}
"""
MOE = TINY.replace("gated(hidden: 48, activation: silu)", "moe(experts: 4, top_k: 2, expert: gated(hidden: 48, activation: silu), router: softmax())")
ENCODER = """
model tiny {
  vocab = 61  dim = 32  depth = 2  context = 64
  embed = norm.embed(tokens() + learned_position() + segments(2))
  position = none  mask = bidirectional  norm = layer(eps: 1e-5)  final_norm = none
  attention = attention(heads: 4, bias: true)
  ffn = mlp(hidden: 48, activation: gelu, bias: true)
  block = post_norm  head = hidden
}
"""
