"""CAP, CHK, LNT, SYS: what cannot be compiled, checks, lints, and the machine."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import layers, spec

_ENCODER = "encoder { mask = bidirectional }"
_BLIND = "decoder { mask = bidirectional  block = pre_norm_cross  cross = attention(heads: 2) }"
_CAUSAL = "decoder { mask = causal  block = pre_norm_cross  cross = attention(heads: 2) }"


def codes() -> list[Code]:
    return [
        Code(
            "CAP001",
            "what an encoder-decoder cannot do yet",
            "A decoder gives one token after the other: its masks are causal, and it has attention of its own. Both stacks take tokens, and"
            " the head reads each of the decoder's.",
            spec(_ENCODER, _BLIND),
            spec(_ENCODER, _CAUSAL),
        ),
        Code(
            "CAP002",
            "two heads with one output",
            "The outputs of a model have one meaning each, so its heads give different ones.",
            spec(head="[lm(tied: true), classify(3, pool: last)]"),
            spec(head="[lm(tied: true), hidden]"),
        ),
        Code(
            "CAP006",
            "a term that this attention does not take",
            "Latent attention takes no position scheme with parameters in each layer.",
            spec(
                position="relative_bias(buckets: 8, max_distance: 16, bidirectional: false, shared: false)",
                attention="mla(heads: 4, q_rank: 8, kv_rank: 8, nope_dim: 4, rope_dim: 4, value_dim: 4, latent_norm: rms(eps: 1e-5))",
            ),
            spec(position="relative_bias(buckets: 8, max_distance: 16, bidirectional: false)"),
        ),
        Code(
            "CAP007",
            "whole rows where rows are read step by step",
            "What depends on all tokens of a row stands in a model that reads the whole row at once.",
            spec(embed="mask_dropout(tokens(), token: 3, share: 0.12)"),
            spec(embed="mask_dropout(tokens(), token: 3, share: 0.12)", mask="bidirectional"),
        ),
        Code(
            "CHK001",
            "a check that does not hold",
            "A fact of the model is not what its `checks` say. The message gives the value found.",
            spec("checks { depth == 3 }"),
            spec("checks { depth == 2 }"),
        ),
        Code(
            "CHK002",
            "no model to compare with",
            '`architecture` and `layout` are compared with a file that holds one model, or `"file.specc#model"`, by == or !=.',
            spec("checks { architecture == 3 }"),
            spec("checks { dim % 8 == 0 }"),
        ),
        Code(
            "LNT001",
            "bound and never used",
            "A name that nothing uses has no effect.",
            spec("inner = 4 * dim"),
            spec("inner = 4 * dim", ffn="mlp(hidden: inner, activation: gelu)"),
        ),
        Code(
            "LNT002",
            "set and never used",
            "A labelled instance, or a field of a layer, is set and nothing asks for it.",
            spec("norm.mixer = layer(eps: 1e-5)"),
            spec("norm.ffn = layer(eps: 1e-5)"),
        ),
        Code(
            "CAP008",
            "an activation whose parameters have no place",
            "An activation that learns holds its parameters in a feed-forward network; heads have no place for them.",
            spec(head="classify(classes: 3, pool: last, activation: xielu)"),
            spec(head="classify(classes: 3, pool: last, activation: tanh)"),
        ),
        Code(
            "CAP009",
            "positions on several axes where there is one",
            "Rope with `sections` turns by the position in time, height and width that the caller gives each token. A model of images takes"
            " no tokens, and a scaling that goes by the largest position knows one axis.",
            spec(position="rope(sections: [2, 1, 1], scaling: dynamic(factor: 2, original: 8))"),
            spec(position="rope(sections: [2, 1, 1], scaling: linear(factor: 2))"),
        ),
        Code(
            "LNT003",
            "a layer that is never used",
            "Every layer section stands somewhere in `layers`.",
            layers("layer local { mask = sliding(4) }", "layer global { mask = causal }", layers="[2 * global]"),
            layers("layer local { mask = sliding(4) }", "layer global { mask = causal }", layers="[local, global]"),
        ),
        Code("SYS001", "a file that cannot be read", "The file is missing, is no file, or may not be read."),
        Code("SYS002", "no specs here", "The folder holds no .specc file."),
        Code("SYS003", "no single model to work on", "Commands that work on one model need to know which. `--model` names it."),
        Code("SYS004", "no such code", "There is no diagnostic of this code. `specc explain` without a code lists them all."),
        Code("SYS005", "a file that cannot be written", "The folder is missing, full, or may not be written."),
        Code(
            "SYS006",
            "weights that cannot lie there",
            "`--weights-as` says where the graph finds its weights: beside it in the checkpoint's own folder, or linked or copied"
            " into another.",
        ),
        Code(
            "SYS007",
            "no published model to hold against",
            "`specc verify --against transformers` needs the model's config.json, whose `architectures` name one class of the library.",
        ),
        Code(
            "SYS008",
            "a type that the provider does not compute in",
            "ONNX Runtime has no bfloat16 kernels on the CPU. Weights stored in bfloat16 run there all the same: they are widened to float32.",
        ),
        Code("SYS020", "a provider that does not run here", "`--provider cuda` needs onnxruntime-gpu, a driver, and the CUDA libraries."),
        Code("SYS021", "no graph to run", "`specc run` takes a folder with a model.onnx that `specc build --to onnx` wrote."),
        Code(
            "SYS022",
            "an input that does not fit the graph",
            "Causal language models take `--prompt` or `--ids`, the others `--text` or `--ids`; texts need a tokenizer.json beside the graph,"
            " ids lie in the vocabulary, and nothing is longer than the model's context.",
        ),
    ]
