"""Models that are made for training: one for each objective, and one for each router with all that it does in training."""

from __future__ import annotations

from tests.components.probe import spec

BOTH = {"mask": "bidirectional"}
MLM = "mlm(tied: true, activation: gelu, norm: norm)"
OBJECTIVES = {
    "causal_lm": {"objective": "causal_lm", "head": "lm(tied: true)"},
    "masked_lm": {"objective": "masked_lm(mask_token: 23)", "head": MLM, **BOTH},
    "next_sentence": {"objective": "next_sentence(first_token: 1, separator: 2)", "head": "classify(2, pool: first, activation: tanh)", **BOTH},
    "classification": {"objective": "classification", "head": "classify(3, pool: last)"},
    "classification of tokens": {"objective": "classification", "head": "classify_tokens(5)", **BOTH},
}
ROUTERS = {
    "softmax": (2, "softmax(normalize: true, "),
    "top_k_first": (2, "softmax(order: top_k_first, "),
    "sigmoid": (2, "sigmoid("),
    "sparsemixer": (2, "sparsemixer("),
    "switch": (1, "switch(capacity: 4, "),
    "expert_choice": (2, "expert_choice("),
}
_TWO = """model two {
  vocab = 40  dim = 16  context = 64
  embed = tokens() + learned_position()  norm = layer(eps: 1e-5)  final_norm = none
  attention = attention(heads: 4)  ffn = mlp(hidden: 20, activation: gelu)
  encoder { depth = 2  mask = bidirectional  block = post_norm }
  decoder { depth = 2  mask = causal  block = post_norm_cross  cross = attention(heads: 4) }
  head = lm(tied: true)
  objective = OBJECTIVE
  init = normal(0.1)  dropout = 0.05  attention_dropout = 0.05
}"""
OF_TWO = {
    "seq2seq_lm": "seq2seq_lm(start: 2, pad: 1, label_smoothing: 0.1)",
    "span_corruption": "span_corruption(start: 0, pad: 0, sentinel: 39, end: 1)",
    "denoising": "denoising(start: 2, pad: 1, mask_token: 3, sentence_end: 4)",
}


def two(objective: str) -> str:
    """An encoder-decoder that is trained for an objective."""
    return _TWO.replace("OBJECTIVE", objective)


_TRAINED = {"init": "normal(0.05)", "dropout": 0.1, "attention_dropout": 0.1}


def routed(name: str, at: str = "router") -> str:
    top_k, router = ROUTERS[name]
    balance = "" if name == "expert_choice" else "load_balance: 0.02, "
    router += f"{balance}z_loss: 0.001, jitter: 0.1, jitter_at: {at})"
    return spec(ffn=f"moe(experts: 4, top_k: {top_k}, expert: mlp(hidden: 6, activation: relu), router: {router})")


TEXTS = {name.replace(" ", "_"): spec(**fields | _TRAINED) for name, fields in OBJECTIVES.items()}
TEXTS |= {"masked_only": spec(**OBJECTIVES["masked_lm"] | {"objective": "masked_lm(mask_token: 23, random_share: 0, special: [1, 2], label_smoothing: 0.1)"})}
TEXTS |= {f"router_{name}": routed(name) for name in ROUTERS} | {"router_layer": routed("softmax", at="layer")}
TEXTS |= {name: two(objective) for name, objective in OF_TWO.items()}
TEXTS |= {"spans_without_end": two("span_corruption(start: 0, pad: 0, sentinel: 39)"), "infilling": two("denoising(start: 2, pad: 1, mask_token: 3)")}
TEXTS["bert_pretraining"] = spec(
    mask="bidirectional",
    head=f"[{MLM}, sentence_order]",
    objective="[masked_lm(mask_token: 23), next_sentence(first_token: 1, separator: 2)]",
)
