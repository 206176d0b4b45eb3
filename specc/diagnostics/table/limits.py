"""LIM: the input is larger or deeper than specc reads."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import layers, rows, spec


def _chain(length: int) -> str:
    """A model whose depth rests on a chain of names."""
    names = [f"a{n} = a{n + 1}" for n in range(length - 1)] + [f"a{length - 1} = 2"]
    return spec(*rows(names), depth="a0")


def _bases(count: int) -> str:
    """So many models, each of which extends the one before."""
    first = spec().replace("model m", "model m0")
    return first + "".join(f"{row}\n" for row in rows([f"model m{n} extends m{n - 1} {{ }}" for n in range(1, count)]))


def codes() -> list[Code]:
    return [
        Code("LIM001", "the file is too large", "A spec file may hold 1 MiB of text. Parts of a spec are joined with `use`."),
        Code(
            "LIM002",
            "brackets nest too deep",
            "At most 100 brackets and braces may be open at once.",
            spec(depth=f"{'(' * 100}2{')' * 100}"),
            spec(depth=f"{'(' * 90}2{')' * 90}"),
        ),
        Code(
            "LIM003",
            "expressions nest too deep",
            "An expression may hold others at most 100 levels deep, signs, powers and the branches of `if` included.",
            spec(depth=f"{'- ' * 102}2"),
            spec(depth=f"{'- ' * 98}2"),
        ),
        Code(
            "LIM004",
            "a row of operations is too long",
            "At most 200 operations may follow one another in one expression, so that no tool runs out of stack on it.",
            spec(depth="2 " + "+ 0 " * 201),
            spec(depth="2 + 201 * 0"),
        ),
        Code(
            "LIM005",
            "an integer does not fit 64 bits",
            "Integers lie between -2**63 and 2**63 - 1, in the text as in every calculation.",
            spec(context="9_223_372_036_854_775_808"),
            spec(context="9_223_372_036_854_775_807"),
        ),
        Code(
            "LIM006",
            "a floating-point number out of range",
            "A number with a point or an exponent is a 64-bit float: finite, and not zero unless it is written as zero.",
            spec(position="rope(theta: 1e999)"),
            spec(position="rope(theta: 1e9)"),
        ),
        Code("LIM007", "the file is not text", "A spec file is text in UTF-8 without NUL characters."),
        Code(
            "LIM008",
            "a number's spelling is too long",
            "A number may be spelled with at most 64 characters.",
            spec(norm=f"rms(eps: 0.{'1' * 70})"),
            spec(norm="rms(eps: 0.1111111111111111)"),
        ),
        Code("LIM009", "too many words and signs", "A spec file may hold 200,000 words and signs, comments not counted."),
        Code(
            "LIM010",
            "too many layers or items",
            "A model may have 10,000 layers, and a list or a range 10,000 items.",
            layers("layer plain { mask = causal }", layers="[1_000_000_000 * plain]"),
            layers("layer plain { mask = causal }", layers="[2 * plain]"),
        ),
        Code(
            "LIM011",
            "an integer beyond 64 bits",
            "Whole numbers are computed in 64 bits, at every step.",
            spec(context="2 ** 64 // 2 ** 59"),
            spec(context="2 ** (64 - 59)"),
        ),
        Code(
            "LIM012",
            "a number that is not finite",
            "Floating-point numbers are finite at every step of a calculation.",
            spec(attention="attention(heads: 2, scale: 1e200 * 1e200)"),
            spec(attention="attention(heads: 2, scale: 1e20 * 1e-20)"),
        ),
        Code(
            "LIM013",
            "too much work",
            "Evaluating a file takes at most 500,000 steps, which is about a second. An expression, an item of a list and a"
            " comparison count one, a component of a layer 20, a model 800.",
            spec("numbers = [for i in range(10_000): [for j in range(10_000): i * j]]", depth="len(numbers)"),
            spec("numbers = [for i in range(2): [for j in range(10): i * j]]", depth="len(numbers)"),
        ),
        Code(
            "LIM014",
            "too many files or bases",
            "A spec may use 1,000 files, 100 deep, and `extends` may lead through 100 models.",
            _bases(102),
            _bases(2),
        ),
        Code(
            "LIM015",
            "too many findings",
            "After 100 findings specc looks for no more. Most of them tend to have one cause, so mend the first and look again.",
            spec(*rows([f"unused_{n} = {n}" for n in range(101)])),
            spec("inner = 64", ffn="mlp(hidden: inner, activation: gelu)"),
        ),
        Code(
            "LIM016",
            "values that rest on one another too deep",
            "A name's value may rest on other names' values, and those on others again, about 100 deep.",
            _chain(200),
            _chain(3),
        ),
    ]
