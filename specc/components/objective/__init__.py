"""What a model is trained for: the loss that its output has, and how its inputs are made from plain ones.

An objective offers `fits(logits, causal, dims)`: what is wrong with it for a head whose logits have these extents.
"""

MEMBERS = {
    "causal_lm": "causal_lm:CausalLanguageModeling",
    "classification": "classification:Classification",
    "denoising": "denoising:Denoising",
    "masked_lm": "masked_lm:MaskedLanguageModeling",
    "next_sentence": "next_sentence:NextSentence",
    "seq2seq_lm": "seq2seq_lm:SequenceToSequence",
    "span_corruption": "span_corruption:SpanCorruption",
}
