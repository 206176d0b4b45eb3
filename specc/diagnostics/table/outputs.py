"""OUT: outputs that a build is asked for beside the model's own."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code("OUT001", "no such output", "`--outputs` takes attentions:last, attentions:all, or attentions:3 with the number of a layer, counted from 0."),
        Code(
            "OUT002",
            "an output that cannot be had",
            "An attention map is what one attention takes of each token: a layer that calls several, or none, has no such map,"
            " nor yet a model with an encoder and a decoder; and on CUDA ONNX Runtime gives none.",
        ),
    ]
