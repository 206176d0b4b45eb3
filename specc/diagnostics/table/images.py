"""IMG: what an image model cannot be made of."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import image


def codes() -> list[Code]:
    return [
        Code(
            "IMG001",
            "tokens that are not as many",
            "An image is cut into whole patches, and what is added to its tokens is as many: a table of positions too.",
            image(embed="concat(class_token(), patches()) + learned_position(length: 4)"),
            image(embed="concat(class_token(), patches()) + learned_position()"),
        ),
        Code(
            "IMG002",
            "text in an image model",
            "A model that states `input = image(...)` reads pixels and nothing else, and parts of images stand only in such a model.",
            image(embed="tokens(vocab: 8) + learned_position(length: 4)"),
            image(embed="patches() + learned_position()"),
        ),
        Code(
            "IMG003",
            "a mask that images cannot have",
            "All patches of an image come at once: no cache, and no row of documents or of a prefix.",
            image(mask="causal"),
            image(mask="bidirectional"),
        ),
    ]
