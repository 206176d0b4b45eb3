"""TYP: a value of a kind that does not fit."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code("TYP001", "a value of the wrong kind", "The field takes another kind of value."),
        Code("TYP002", "not a list", "`for`, `len` and `contains` work on lists."),
        Code("TYP003", "not a condition", "A condition is true or false; numbers and none are neither."),
        Code("TYP004", "not a number", "Arithmetic, and fields that count or measure, take numbers."),
        Code(
            "TYP005",
            "a field that another one makes meaningless",
            "The field shapes a part that the component does not have, so it would do nothing.",
        ),
        Code(
            "TYP006", "a call that is no value", "Labelled instances such as `norm.ffn(x)` are called in blocks and in the embedding only."
        ),
        Code("TYP007", "a value without parts", "Only configs and records have parts."),
        Code("TYP008", "not an item of a list", "`list[number]` picks an item of a list."),
        Code(
            "TYP009",
            "not the name of a tensor",
            "The right side of a weights rule names a tensor, or applies `transpose` or `fused` to one.",
        ),
        Code("TYP010", "a function called wrongly", "Each function takes its own number and kinds of values."),
        Code("TYP011", "not a layer", "`layers` is made of the names of layer sections."),
        Code("TYP012", "not a formula", "Blocks and embeddings are formulas of sublayer calls, sums, and products with a number."),
        Code("TYP013", "a sublayer with the wrong inputs", "Each sublayer takes a fixed number of values of the formula."),
    ]
