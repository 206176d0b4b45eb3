"""SYN: the text does not follow the grammar."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import spec


def codes() -> list[Code]:
    return [
        Code(
            "SYN001",
            "unexpected text",
            "The text does not follow the grammar. The message names what could stand there.",
            spec().replace("dim       = 16", "dim       16"),
            spec(),
        ),
        Code(
            "SYN002",
            "a newer version of the language",
            "The file's first statement names a version of the language that this specc does not know.",
            spec(above="specc 2\n"),
            spec(above="specc 1\n"),
        ),
        Code(
            "SYN003",
            "a bracket is not closed",
            "A `(`, `[` or `{` has no partner before the end of what encloses it.",
            spec(norm="rms(eps: 1e-5"),
            spec(norm="rms(eps: 1e-5)"),
        ),
        Code(
            "SYN004",
            "a bracket closes nothing",
            "A `)`, `]` or `}` stands where no bracket is open.",
            spec(norm="rms(eps: 1e-5))"),
            spec(norm="rms(eps: 1e-5)"),
        ),
        Code(
            "SYN005",
            "a string is not closed",
            "A string ends with a double quote on the line where it began. It has no escapes.",
            spec('weights hf { embed.tokens = "wte }'),
            spec('weights hf { embed.tokens = "wte" }'),
        ),
        Code(
            "SYN006",
            "a character without meaning",
            "The character is no part of the language outside strings and comments.",
            spec(dim="16;"),
            spec(dim="16"),
        ),
        Code(
            "SYN007",
            "a number is malformed",
            "A number has digits, single underscores between them, a point, and an exponent or one of the suffixes k, M, G"
            " (thousands) and KiB, MiB, GiB (1024s). With a suffix it is whole.",
            spec(context="32x"),
            spec(context="32k"),
        ),
        Code(
            "SYN008",
            "`:` where `=` belongs",
            "Fields are written `name = value`. Only the arguments of a call are written `name: value`.",
            spec().replace("dim       = 16", "dim: 16"),
            spec(),
        ),
        Code(
            "SYN009",
            "`=` where `:` belongs",
            "The arguments of a call are written `name: value`. Only fields are written `name = value`.",
            spec(norm="rms(eps = 1e-5)"),
            spec(norm="rms(eps: 1e-5)"),
        ),
        Code(
            "SYN010",
            "a reserved word as a name",
            "The words repeat, for, in, match, if, then, else, require, and, or, true, false and none are reserved.",
            spec("in = 4 * dim"),
            spec("inner = 4 * dim", ffn="mlp(hidden: inner, activation: gelu)"),
        ),
        Code(
            "SYN011",
            "a comma is missing",
            "The parts of a list, the arguments of a call and the parameters of a block are separated by commas.",
            spec(ffn="mlp(hidden: 64 activation: gelu)"),
            spec(ffn="mlp(hidden: 64, activation: gelu)"),
        ),
        Code(
            "SYN012",
            "`=` and `==` mixed up",
            "`=` sets a field, `==` compares two values.",
            spec("checks { depth = 2 }"),
            spec("checks { depth == 2 }"),
        ),
        Code(
            "SYN013",
            "the version is misplaced or malformed",
            "`specc 1`, if a file has it, is its first statement. The version is a whole number.",
            spec() + "specc 1\n",
            spec(above="specc 1\n"),
        ),
        Code(
            "SYN014",
            "a statement outside a model",
            "At the top of a file stand `use`, `model`, `adapter`, `block` and `weights`. Everything else stands in a model.",
            spec(above="inner = 64\n", ffn="mlp(hidden: inner, activation: gelu)"),
            spec("inner = 64", ffn="mlp(hidden: inner, activation: gelu)"),
        ),
    ]
