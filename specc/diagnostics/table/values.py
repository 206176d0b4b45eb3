"""VAL: a value that is missing, out of range, or contradicts itself."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import family, spec

_BLOCK = "block b(x) {{\n  final_norm = norm\n  {0}\n}}\n\n"


def codes() -> list[Code]:
    return [
        Code(
            "VAL001",
            "a number out of range",
            "The field says which numbers it takes.",
            spec(ffn="mlp(hidden: 0, activation: gelu)"),
            spec(ffn="mlp(hidden: 64, activation: gelu)"),
        ),
        Code(
            "VAL002",
            "a field that must be stated",
            "specc does not guess what decides the numbers of a model.",
            spec(head="lm()"),
            spec(head="lm(tied: true)"),
        ),
        Code(
            "VAL003",
            "a size that the component needs",
            "The component takes this size from the model, and the model does not state it.",
            spec(embed="tokens() + learned_position()", context=None),
            spec(embed="tokens() + learned_position()"),
        ),
        Code(
            "VAL004",
            "a factor that cancels everything",
            "A scale of 0 would make the part it scales vanish.",
            spec(embed="tokens(scale: 0)"),
            spec(embed="tokens(scale: sqrt(dim))"),
        ),
        Code(
            "VAL005",
            "defined by itself",
            "A field, or a chain of `extends`, leads back to itself.",
            spec("inner = 2 * outer", "outer = inner // 2", ffn="mlp(hidden: inner, activation: gelu)"),
            spec("inner = 2 * outer", "outer = 2 * dim", ffn="mlp(hidden: inner, activation: gelu)"),
        ),
        Code(
            "VAL006",
            "no arm fits",
            "`match` needs an arm that equals its subject, or an `else` arm.",
            spec(depth='match "large" { "tiny": 1  "small": 2 }'),
            spec(depth='match "large" { "tiny": 1  else: 2 }'),
        ),
        Code(
            "VAL007",
            "no such item",
            "The list is shorter than the index says. The first item has the number 0.",
            spec(depth="[1, 2][2]"),
            spec(depth="[1, 2][1]"),
        ),
        Code(
            "VAL008",
            "arithmetic without a result",
            "Division by zero, and fractional powers of negative numbers, have none.",
            spec(attention="attention(heads: 2, scale: 1 / 0)"),
            spec(attention="attention(heads: 2, scale: 1 / 8)"),
        ),
        Code(
            "VAL009",
            "not one of the choices",
            "The field takes one of a few words.",
            spec(position="rope(theta: 10_000, layout: split)"),
            spec(position="rope(theta: 10_000, layout: half)"),
        ),
        Code(
            "VAL010",
            "a block that does nothing",
            "A block's value is the last value of its first input, so it has to bind that again.",
            spec(above=_BLOCK.format("y = x + attention(norm.attention(x))"), block="b", ffn=None),
            spec(above=_BLOCK.format("x = x + attention(norm.attention(x))"), block="b", ffn=None),
        ),
        Code(
            "VAL011",
            "a family without a sample",
            "A family carries a `sample` config, so that it can be checked without a checkpoint.",
            family(sample=None),
            family(),
        ),
    ]
