"""What makes the first hidden state out of the inputs: parts that the model's `embed` formula combines.

A part offers `width_out(width, dims)`, the width of what it makes from inputs of this width (None for a source), and
`lower(g, call, x)`: -> [N, width], x None for a source.
"""

MEMBERS = {
    "class_token": "class_token:ClassToken",
    "distillation_token": "distillation_token:DistillationToken",
    "learned_position": "learned_position:LearnedPosition",
    "mask_dropout": "mask_dropout:MaskDropout",
    "patches": "patches:Patches",
    "project": "project:Project",
    "registers": "registers:Registers",
    "segments": "segments:Segments",
    "sinusoidal_position": "sinusoidal_position:SinusoidalPosition",
    "tokens": "tokens:Tokens",
}
