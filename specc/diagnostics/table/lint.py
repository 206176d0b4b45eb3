"""LNT004 and up: comments that ignore findings, and what is allowed but seldom meant."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import spec

_TILES = "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/"
_OFF = "Off unless a setting selects it."


def codes() -> list[Code]:
    return [*_ignoring(), *_widths(), *_positions(), *_stated()]


def _ignoring() -> list[Code]:
    return [
        Code(
            "LNT004",
            "an ignore that matches nothing",
            "The finding that this comment ignores is no longer there. `specc check --fix` removes it.",
            spec("inner = 64  # specc: ignore[LNT001] kept for the next experiment", ffn="mlp(hidden: inner, activation: gelu)"),
            spec("inner = 64  # specc: ignore[LNT001] kept for the next experiment"),
        ),
        Code(
            "LNT005",
            "an ignore without a reason",
            "Whoever reads the comment next has to know why the finding may stand.",
            spec("inner = 64  # specc: ignore[LNT001]"),
            spec("inner = 64  # specc: ignore[LNT001] kept for the next experiment"),
        ),
        Code(
            "LNT006",
            "an ignore that cannot work",
            "`# specc: ignore[CODE] reason` names codes of warnings or checks; other errors cannot be ignored."
            " `# specc: ignore-file[CODE] reason` stands above everything else in a file.",
            spec("# specc: ignore[LNT01] kept for the next experiment", "depth = 2", depth=None),
            spec("inner = 64  # specc: ignore[LNT001] kept for the next experiment"),
        ),
    ]


def _widths() -> list[Code]:
    return [
        Code(
            "LNT010",
            "heads of an awkward width",
            "Fused attention kernels take heads whose width is a multiple of 8; others are padded or run on a slower path"
            " (https://github.com/Dao-AILab/flash-attention).",
            spec(attention="attention(heads: 2, head_dim: 12)"),
            spec(attention="attention(heads: 2, head_dim: 16)"),
        ),
        Code(
            "LNT011",
            "a width that fills no tile",
            f"Matrix units read rows of 128 bytes: multiples of 64 values of two bytes waste none of it ({_TILES}). {_OFF}",
            spec(dim="64", attention="attention(heads: 8)", ffn="mlp(hidden: 250, activation: gelu)"),
            spec(dim="64", attention="attention(heads: 8)", ffn="mlp(hidden: 256, activation: gelu)"),
        ),
        Code(
            "LNT012",
            "an uneven vocabulary",
            f"A vocabulary that is a multiple of 8 makes the last matrix product faster, though it is larger ({_TILES}):"
            f" nanoGPT takes 50304 for GPT-2's 50257 (https://github.com/karpathy/nanoGPT). {_OFF}",
            spec(vocab="50_257"),
            spec(vocab="50_304"),
        ),
        Code(
            "LNT016",
            "a single key and value head",
            "One head for all queries costs quality (https://arxiv.org/abs/2305.13245) and is copied to every device of a"
            f" tensor-parallel group. {_OFF}",
            spec(attention="attention(heads: 2, kv_heads: 1)"),
            spec(attention="attention(heads: 2, kv_heads: 2)"),
        ),
    ]


def _positions() -> list[Code]:
    yarn = "rope(theta: 10_000, scaling: yarn(factor: {0}, original: 16))"
    return [
        Code(
            "LNT013",
            "two positional schemes",
            "A table of positions and a scheme inside attention say the same twice, and the table bounds the length. Published"
            " models have one of them; two are mostly left over from a copied spec.",
            spec(embed="tokens() + learned_position()"),
            spec(),
        ),
        Code(
            "LNT014",
            "a context past its scaling",
            "YaRN stretches the trained positions by its factor (https://arxiv.org/abs/2309.00071). Past that, positions are"
            " as strange to the model as without it.",
            spec(context="128", position=yarn.format(4)),
            spec(context="64", position=yarn.format(4)),
        ),
        Code(
            "LNT015",
            "a rope that comes full circle",
            "Where even the slowest pair of channels turns right round within the context, no pair tells a far position from a near"
            " one. The base has to grow with the context (https://arxiv.org/abs/2405.14591).",
            spec(context="8192", position="rope(theta: 1000)"),
            spec(context="8192", position="rope(theta: 500_000)"),
        ),
        Code(
            "LNT018",
            "a window that hides nothing",
            f"A sliding window as wide as the context computes what a causal mask does, and runtimes take a slower path for it. {_OFF}",
            spec(mask="sliding(32)"),
            spec(mask="sliding(8)"),
        ),
        Code(
            "LNT020",
            "a model without order",
            "Without a mask and without positions, attention gives a set of tokens the same values in any order"
            " (https://arxiv.org/abs/1706.03762, section 3.5).",
            spec(position=None, mask="bidirectional"),
            spec(mask="bidirectional"),
        ),
    ]


def _stated() -> list[Code]:
    return [
        Code(
            "LNT017",
            "no budget of parameters",
            f"A check on `params` is what makes a changed width or a lost tie fail in CI. {_OFF}",
            spec("checks { depth == 2 }"),
            spec("checks { params == 7_248 }"),
        ),
        Code(
            "LNT019",
            "an eps that vanishes",
            f"float16 holds nothing between 0 and 6e-8, so that this eps guards no division there. {_OFF}",
            spec(norm="rms(eps: 1e-12)"),
            spec(norm="rms(eps: 1e-6)"),
        ),
    ]
