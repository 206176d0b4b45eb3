"""WGT: a checkpoint, or the rules that say how it names its tensors."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import spec

_RULE = 'weights hf {{ layers[i].{0} = "model.layers.{{i}}.mlp.up_proj" }}'


def codes() -> list[Code]:
    return [
        Code(
            "WGT001",
            "a weights rule for a part that the model lacks",
            "The left side of a weights rule is a part of the model, path by path, as in `layers[i].attention.q`.",
            spec(_RULE.format("fnn.up")),
            spec(_RULE.format("ffn.up")),
        ),
        Code(
            "WGT002",
            "no checkpoint in the folder",
            "A checkpoint is a folder with model.safetensors, with model.safetensors.index.json and the files it names, or with"
            " weights.safetensors.",
        ),
        Code("WGT003", "the checkpoint is a pickle", "Reading a pickle can run code that it holds. specc reads safetensors only."),
        Code(
            "WGT004",
            "a malformed safetensors file",
            "The file is cut short, or its header does not describe its bytes: a known type and a shape for each tensor, and tensors"
            " that follow one another without gap or overlap to the end of the file.",
        ),
        Code("WGT005", "a malformed index", "model.safetensors.index.json holds an object `weight_map` from each tensor to its file."),
        Code(
            "WGT006",
            "an index that names a file elsewhere",
            "The files of an index lie beside it. A name with a path in it could reach any file, so it is refused.",
        ),
        Code(
            "WGT007", "index and files disagree", "Each tensor stands once, in the file that the index names, and each such file is there."
        ),
        Code(
            "WGT008",
            "a quantised checkpoint",
            "GPTQ, AWQ, bitsandbytes, mxfp4, compressed-tensors and fp8 store numbers that mean nothing without their scales. specc"
            " reads F32, F16, BF16 and F64.",
        ),
        Code(
            "WGT009",
            "a checkpoint of an unknown layout",
            "No tensor's name is one that specc's own layout or a `weights` section of the model gives.",
        ),
        Code(
            "WGT010",
            "tensors that the model does not use",
            "Every tensor of a checkpoint is mapped or listed under `ignore`. One left over usually means that the spec lacks a part.",
        ),
        Code("WGT011", "parameters without a tensor", "Every parameter of the model is in the checkpoint, except the optional ones."),
        Code("WGT012", "a tensor of the wrong shape", "A tensor has the shape that the spec gives, after `transpose` and `fused`."),
        Code(
            "WGT013",
            "a tied copy that differs",
            "Names joined by `|` are names of one tensor. Where a checkpoint has several of them, they are equal bit for bit.",
        ),
        Code(
            "WGT014",
            "a fused tensor that cannot be cut",
            "The model has every part listed under `order`, each part has the parameter (no bias without its siblings' biases), and"
            " `groups` divides each part's rows.",
        ),
        Code("WGT015", "a rule that cannot be undone", "`transpose` stands inside `fused`, each at most once: fused(transpose(name))."),
        Code("WGT016", "a parameter that is no floating-point tensor", "Parameters are F32, F16, BF16 or F64."),
        Code(
            "WGT017",
            "no such published layout",
            "Converting to a published layout needs a `weights` section of the model, by the name asked for.",
        ),
        Code(
            "WGT018",
            "a parameter that cannot be published",
            "Each parameter has a rule in the `weights` section, no two share a name, and the parts of a fused tensor are all present"
            " and of one type.",
        ),
        Code("WGT019", "a type that specc does not write", "New weights are written as F32, F16 or BF16."),
        Code(
            "WGT020",
            "weights that changed under a graph",
            "A graph points into weight files by offset, and remembers the size and the header of each. A file that is missing or has"
            " changed since is refused: its bytes would be read as other numbers. Build the graph again.",
        ),
    ]
