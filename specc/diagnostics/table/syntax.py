"""SYN: the text does not follow the grammar."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code(
            "SYN001",
            "unexpected text",
            "The text does not follow the grammar; the message names what could stand there.",
            "model m { dim 64 }\n",
            "model m { dim = 64 }\n",
        ),
        Code(
            "SYN002",
            "a newer version of the language",
            "The file's first statement names a version of the language that this specc does not know.",
            "specc 2\nmodel m { dim = 64 }\n",
            "specc 1\nmodel m { dim = 64 }\n",
        ),
        Code(
            "SYN003",
            "a bracket is not closed",
            "A `(`, `[` or `{` has no partner before the end of what encloses it.",
            "model m {\n  dim = 64\n",
            "model m {\n  dim = 64\n}\n",
        ),
        Code(
            "SYN004",
            "a bracket closes nothing",
            "A `)`, `]` or `}` stands where no bracket is open.",
            "model m { dim = 64 } }\n",
            "model m { dim = 64 }\n",
        ),
        Code(
            "SYN005",
            "a string is not closed",
            "A string ends with a double quote on the line where it began; it has no escapes.",
            'use "base.specc\n',
            'use "base.specc"\n',
        ),
        Code(
            "SYN006",
            "a character without meaning",
            "The character is no part of the language outside strings and comments.",
            "model m { dim = 64; }\n",
            "model m { dim = 64 }\n",
        ),
        Code(
            "SYN007",
            "a number is malformed",
            "A number has digits, single underscores between them, a point, and an exponent or one of the suffixes k, M, G"
            " (thousands) and KiB, MiB, GiB (1024s). With a suffix it is whole.",
            "model m { dim = 64x }\n",
            "model m { dim = 64k }\n",
        ),
        Code(
            "SYN008",
            "`:` where `=` belongs",
            "Fields are written `name = value`. Only the arguments of a call are written `name: value`.",
            "model m { dim: 64 }\n",
            "model m { dim = 64 }\n",
        ),
        Code(
            "SYN009",
            "`=` where `:` belongs",
            "The arguments of a call are written `name: value`. Only fields are written `name = value`.",
            "model m { norm = rms(eps = 1e-5) }\n",
            "model m { norm = rms(eps: 1e-5) }\n",
        ),
        Code(
            "SYN010",
            "a reserved word as a name",
            "The words repeat, for, in, match, if, then, else, require, and, or, true, false and none are reserved.",
            "model m { match = 1 }\n",
            "model m { matched = 1 }\n",
        ),
        Code(
            "SYN011",
            "a comma is missing",
            "The parts of a list, the arguments of a call and the parameters of a block are separated by commas.",
            "model m { norm = rms(eps: 1e-5 offset: 1) }\n",
            "model m { norm = rms(eps: 1e-5, offset: 1) }\n",
        ),
        Code(
            "SYN012",
            "`=` and `==` mixed up",
            "`=` sets a field, `==` compares two values.",
            "model m { checks { params = 5 } }\n",
            "model m { checks { params == 5 } }\n",
        ),
        Code(
            "SYN013",
            "the version is misplaced or malformed",
            "`specc 1`, if a file has it, is its first statement; the version is a whole number.",
            "model m { dim = 64 }\nspecc 1\n",
            "specc 1\nmodel m { dim = 64 }\n",
        ),
        Code(
            "SYN014",
            "a statement outside a model",
            "At the top of a file stand `use`, `model`, `adapter`, `block` and `weights`; everything else stands in a model.",
            "dim = 64\n",
            "model m { dim = 64 }\n",
        ),
    ]
