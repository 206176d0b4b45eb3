"""What is read off the last hidden state.

A head offers `lower(g, x, call)`: x [N, C] -> the named outputs of the graph; `outputs` names them; `tied` (where a head
has it) says that its matrix is the token table.
"""

MEMBERS = {
    "classify": "classify:Classify",
    "classify_distilled": "classify_distilled:ClassifyDistilled",
    "classify_tokens": "classify_tokens:ClassifyTokens",
    "hidden": "hidden:Hidden",
    "lm": "lm:LanguageModel",
    "mlm": "mlm:MaskedLanguageModel",
    "image_embedding": "image_embedding:ImageEmbedding",
    "sentence_order": "sentence_order:SentenceOrder",
    "pooled": "pooled:Pooled",
    "probed": "probed:Probed",
    "replaced_tokens": "replaced_tokens:ReplacedTokens",
    "span": "span:Span",
}
