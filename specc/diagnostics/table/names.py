"""NAM: a name that nothing answers to, or that stands where it may not."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code(
            "NAM001",
            "no variant of this name",
            "An axis has no variant of this name. `specc schema` lists them; a variant of another axis does not fit.",
        ),
        Code("NAM002", "no field of this name", "The component or fact has no field of this name."),
        Code("NAM003", "a field without its name", "Only the first field of some components may be given without its name."),
        Code(
            "NAM004",
            "`layer.index` outside a layer",
            "`layer.index` is the number of the layer at hand, from 0. Fields that all layers share have none.",
        ),
        Code("NAM005", "given twice", "A name is given one value. A second one would silently replace the first."),
        Code("NAM006", "a statement that does not belong here", "A block binds plain names, and a layer holds fields only."),
        Code("NAM007", "a value that no one made", "A formula uses the inputs of its block and what earlier lines bound."),
        Code("NAM008", "no model of this name", "`extends` and `--model` name a model of the file or of a file that it uses."),
        Code("NAM009", "files that use each other in a circle", "`use` brings in another file, which must not lead back."),
        Code("NAM010", "a field of the model inside a layer", "Sizes, embedding, head and final norm belong to the whole model."),
        Code(
            "NAM011",
            "a block calls a field that the model lacks",
            "Every sublayer that a block calls is a field of the model or of the layer.",
        ),
        Code("NAM012", "no block of this name", "`block` names a block of the prelude, of the file, or of a file that it uses."),
        Code(
            "NAM013",
            "a misspelt field",
            "A model may bind names of its own, but this one is used by nothing and looks like a field that models have.",
        ),
        Code("NAM014", "no fact of this name", "`checks` compares facts that specc computes from the model."),
    ]
