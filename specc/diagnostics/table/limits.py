"""LIM: the input is larger or deeper than specc reads."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code("LIM001", "the file is too large", "A spec file may hold 1 MiB of text. Parts of a spec are joined with `use`."),
        Code(
            "LIM002",
            "brackets nest too deep",
            "At most 100 brackets and braces may be open at once.",
            f"model m {{ x = {'[' * 100}1{']' * 100} }}\n",
            f"model m {{ x = {'[' * 90}1{']' * 90} }}\n",
        ),
        Code(
            "LIM003",
            "expressions nest too deep",
            "An expression may hold others at most 100 levels deep, signs, powers and the branches of `if` included.",
            f"model m {{ x = {'-' * 101}1 }}\n",
            "model m { x = -1 }\n",
        ),
        Code(
            "LIM004",
            "a row of operations is too long",
            "At most 200 operations may follow one another in one expression, so that no tool runs out of stack on it.",
            f"model m {{ x = {'1 + ' * 201}1 }}\n",
            "model m { x = 201 * 1 + 1 }\n",
        ),
        Code(
            "LIM005",
            "an integer does not fit 64 bits",
            "Integers lie between -2**63 and 2**63 - 1, in the text as in every calculation.",
            "model m { dim = 9_223_372_036_854_775_808 }\n",
            "model m { dim = 9_223_372_036_854_775_807 }\n",
        ),
        Code(
            "LIM006",
            "a floating-point number out of range",
            "A number with a point or an exponent is a 64-bit float: finite, and not zero unless it is written as zero.",
            "model m { x = 1e999 }\n",
            "model m { x = 1e99 }\n",
        ),
        Code("LIM007", "the file is not text", "A spec file is text in UTF-8 without NUL characters."),
        Code(
            "LIM008",
            "a number's spelling is too long",
            "A number may be spelled with at most 64 characters.",
            f"model m {{ x = 0.{'1' * 70} }}\n",
            "model m { x = 0.1111111111111111 }\n",
        ),
        Code("LIM009", "too many words and signs", "A spec file may hold 200,000 words and signs, comments not counted."),
        Code("LIM010", "too many layers or items", "A model may have 10,000 layers, and a list or a range 10,000 items."),
        Code("LIM011", "an integer beyond 64 bits", "Whole numbers are computed in 64 bits."),
        Code("LIM012", "a number that is not finite", "Numbers are finite at every step."),
        Code("LIM013", "too much work", "Evaluating a spec takes at most two million steps."),
        Code("LIM014", "too many files", "A spec may use 1,000 files, 100 deep."),
        Code("LIM015", "too many findings", "."),
        Code("LIM016", "too deep", "."),
    ]
