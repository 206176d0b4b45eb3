"""TYP: a value of a kind that does not fit."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import layers, spec


def _block(line: str) -> str:
    return f"block b(x) {{\n  final_norm = norm\n  {line}\n}}\n\n"


def codes() -> list[Code]:
    return [
        Code(
            "TYP001",
            "a value of the wrong kind",
            "The field takes another kind of value.",
            spec(dim='"16"'),
            spec(dim="16"),
        ),
        Code(
            "TYP002",
            "not a list",
            "`for`, `len` and `contains` work on lists.",
            spec(depth="len(2)"),
            spec(depth="len([1, 2])"),
        ),
        Code(
            "TYP003",
            "not a condition",
            "A condition is true or false. Numbers and none are neither.",
            spec(mask="if depth then causal else bidirectional"),
            spec(mask="if depth > 0 then causal else bidirectional"),
        ),
        Code(
            "TYP004",
            "not a number",
            "Arithmetic, and what counts or measures, takes numbers.",
            spec(depth='"1" + 1'),
            spec(depth="1 + 1"),
        ),
        Code(
            "TYP005",
            "a field that another one makes meaningless",
            "The field shapes a part that the component does not have, so it would do nothing.",
            spec(attention="attention(heads: 2, qk_norm_over: width)"),
            spec(attention="attention(heads: 2, qk_norm: rms(eps: 1e-5), qk_norm_over: width)"),
        ),
        Code(
            "TYP006",
            "a call that is no value",
            "Labelled instances such as `norm.ffn(x)` are called in blocks and in the embedding only.",
            spec(final_norm="norm.last(eps: 1e-5)"),
            spec(final_norm="rms(eps: 1e-5)"),
        ),
        Code(
            "TYP007",
            "a value without parts",
            "Only configs and records have parts.",
            spec("sizes = 16", dim="sizes.hidden"),
            spec("sizes = record(hidden: 16)", dim="sizes.hidden"),
        ),
        Code(
            "TYP008",
            "not an item of a list",
            "`list[number]` picks an item of a list.",
            spec("heads = [2, 4]", attention='attention(heads: heads["first"])'),
            spec("heads = [2, 4]", attention="attention(heads: heads[0])"),
        ),
        Code(
            "TYP009",
            "not the name of a tensor",
            "The right side of a weights rule names a tensor, or applies a function such as `transpose` or `fused` to one.",
            spec("weights hf { embed.tokens = 1 }"),
            spec('weights hf { embed.tokens = "wte" }'),
        ),
        Code(
            "TYP010",
            "a function called wrongly",
            "Each function takes its own number and kinds of values.",
            spec(depth="min(2)"),
            spec(depth="min(2, 4)"),
        ),
        Code(
            "TYP011",
            "not a layer",
            "`layers` is made of the names of layer sections.",
            layers("layer plain { mask = causal }", layers="[plain, casual]"),
            layers("layer plain { mask = causal }", layers="[plain, plain]"),
        ),
        Code(
            "TYP012",
            "not a formula",
            "Blocks and embeddings are formulas of sublayer calls, sums, and products with a number.",
            spec(above=_block("x = attention(norm.attention(x)) - x"), block="b", ffn=None),
            spec(above=_block("x = attention(norm.attention(x)) + -1 * x"), block="b", ffn=None),
        ),
        Code(
            "TYP013",
            "a sublayer with the wrong inputs",
            "Each sublayer takes a fixed number of values of the formula.",
            spec(above=_block("x = x + attention(x, x)"), block="b", ffn=None),
            spec(above=_block("x = x + attention(x)"), block="b", ffn=None),
        ),
    ]
