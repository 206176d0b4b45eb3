"""NAM: a name that nothing answers to, or that stands where it may not."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import layers, spec

_SELF_USE = '# the file example.specc\nuse "example.specc"\n\n'
_BLOCK = "block b(x) {{\n  final_norm = norm\n  {0}\n  x = x + ffn(norm.ffn({1}))\n}}\n\n"


def codes() -> list[Code]:
    return [
        Code(
            "NAM001",
            "no variant of this name",
            "An axis has no variant of this name. `specc schema` lists them all. A variant of another axis does not fit.",
            spec(mask="casual"),
            spec(mask="causal"),
        ),
        Code(
            "NAM002",
            "no field of this name",
            "The component, function or fact has no field of this name.",
            spec(norm="rms(epsilon: 1e-5)"),
            spec(norm="rms(eps: 1e-5)"),
        ),
        Code(
            "NAM003",
            "a field without its name",
            "Only the first fields of some components may be given without their names: `sliding(4096)`, `window(64, 64)`.",
            spec(norm="rms(1e-5)"),
            spec(norm="rms(eps: 1e-5)"),
        ),
        Code(
            "NAM004",
            "`layer.index` outside a layer",
            "`layer.index` is the number of the layer at hand, from 0. Fields that all layers share have none.",
            spec(head="lm(tied: true, scale: 1 / (layer.index + 1))"),
            spec(attention="attention(heads: 2, scale: 1 / (layer.index + 1))"),
        ),
        Code(
            "NAM005",
            "given twice",
            "A name is given one value. A second one would silently replace the first.",
            spec("dim = 32"),
            spec(dim="32"),
        ),
        Code(
            "NAM006",
            "a statement that does not belong here",
            "A block binds plain names, a layer holds fields only, and `weights` stand in a model.",
            layers("layer plain { checks { depth == 2 } }", layers="[2 * plain]"),
            layers("layer plain { mask = causal }", "checks { depth == 2 }", layers="[2 * plain]"),
        ),
        Code(
            "NAM007",
            "a value that no one made",
            "A formula uses the inputs of its block and what earlier lines of it bound.",
            spec(above=_BLOCK.format("h = x + attention(norm.attention(x))", "y"), block="b"),
            spec(above=_BLOCK.format("x = x + attention(norm.attention(x))", "x"), block="b"),
        ),
        Code(
            "NAM008",
            "no model of this name",
            "`extends` names a model of the file or of a file that it uses.",
            spec().replace("model m", "model m extends base"),
            spec().replace("model m", "model base") + "model m extends base { depth = 4 }\n",
        ),
        Code(
            "NAM009",
            "files that use each other in a circle",
            "`use` brings in another file, which must not lead back.",
            spec(above=_SELF_USE),
            spec(),
        ),
        Code(
            "NAM010",
            "a field of the model inside a layer",
            "Sizes, embedding, head, layout and final norm belong to the whole model.",
            layers("layer wide { dim = 32 }", layers="[2 * wide]"),
            layers("layer wide { ffn = mlp(hidden: 128, activation: gelu) }", layers="[2 * wide]"),
        ),
        Code(
            "NAM011",
            "a block calls a field that the model lacks",
            "Every sublayer that a block calls is a field of the model or of the layer.",
            spec(ffn=None),
            spec(),
        ),
        Code(
            "NAM012",
            "no block of this name",
            "`block` names a block of the prelude, of the file, or of a file that it uses.",
            spec(block="prenorm"),
            spec(block="pre_norm"),
        ),
        Code(
            "NAM013",
            "a misspelt field",
            "A model may bind names of its own, but this one is used by nothing and looks like a field that models have.",
            spec("contxt = 32", context=None),
            spec(),
        ),
        Code(
            "NAM014",
            "no fact of this name",
            "`checks` compares facts that specc computes from the model.",
            spec("checks { parameters <= 10k }"),
            spec("checks { params <= 10k }"),
        ),
    ]
