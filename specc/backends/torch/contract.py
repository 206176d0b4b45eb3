"""What the template of a component has to define, axis by axis.

A template is `templates/torch/<axis>/<kind>.py.jinja`. It may set `names`, the constants that its numbers are printed as
(`{"hidden": "FFN_WIDTH"}`; KIND_FIELD where it sets none), and it defines every macro of its axis; one that has nothing to
print is left empty. A macro's first argument `c` is a View: `c.eps` prints a number as a constant, a literal or an
argument, whichever the model calls for, `c.bias` is the field itself where it is structural, `c.activation.apply(x)`
prints another component in its place.

A definition reads `{{ c.name }}` for its own name, `{{ c.signature }}` for the arguments of `__init__` (or of a function,
where `c.arguments` lists them and `c.passed` passes them), `{{ c.kept }}` for those that `forward` needs, and prints a number in `forward` as
`{{ c.scale.kept }}`. A position scheme's functions end in `{{ c.name }}`, empty unless the model has several of them;
its view has the fields of the attention beside its own: `c.head_dim`, `c.heads`.
"""

from __future__ import annotations

MACROS: dict[str, dict[str, str]] = {
    "input": {},
    "norm": {
        "title": "the name of its class",
        "definition": "(c, shape) its class, or nothing where torch has one; shape: the texts of the weight's extents",
        "construct": "(c, shape) the expression that makes the module",
    },
    "gain": {
        "title": "the name of its class",
        "definition": "(c, shape) its class; shape: the texts of the weight's extents",
        "construct": "(c, shape) the expression that makes the module",
    },
    "activation": {
        "definition": "(c) a helper function, or the class that holds its parameters, or nothing",
        "construct": "(c) the expression that makes the module `activation`, or nothing where it holds no parameters",
        "apply": "(c, x) an expression",
    },
    "position": {
        "tables_definition": "(c) the function that `tables` calls, or nothing",
        "tables": "(c, held) what is computed once for all layers of a scheme, a pair of tensors, from `positions` [B, T], `new`, `total` and "
        "the hidden state `x`; held: the module of what all layers share",
        "tables_name": "(c) what layers call the tables",
        "tables_are": "(c) what they are, in words",
        "rotate_definition": "(c) the function that `rotate` calls, or nothing",
        "rotate": "(c, tables, turned) lines that turn `q` [B, H, T, D] and `k` [B, K, T, D], or `q` alone where `turned` says so, by the tables of that name",
        "bias_definition": "(c) the function that `bias` calls, or nothing",
        "bias": "(c, held) a float expression [1 or B, H, T, S] over `positions` [B, T], `key_positions` [B, S], `new`, `total` and "
        "`x.dtype`, made once for all layers",
        "score_definition": "(c) the function that `score` calls, or nothing",
        "score": "(c, tables) a float expression [1 or B, H, T, S] that each attention adds, over `q` [B, H, T, D], `k` [B, K, S, D], "
        "`new`, the tables of that name, the attention's own maps and its module `self.position`; or nothing",
        "module_title": "(c) the name of the class of what each attention holds, or nothing",
        "module_definition": "(c) that class, or nothing",
        "holder_title": "(c) the name of the class of what all layers of a scheme share, or nothing",
        "holder_definition": "(c) that class, or nothing",
    },
    "scaling": {
        "frequencies": "(c, theta, width) lines that bind `frequencies` [D/2] from `exponents` [D/2] and `positions` [B, T]",
        "amplitude": "(c) the factor on cosines and sines, or nothing",
    },
    "mask": {
        "prepared": "(c) lines that bind what `visible` mentions beside the columns; the same for every mask of the kind",
        "visible": "(c) boolean expressions, one a line, that all must hold, over `query` [T, 1] and `key` [1, S], columns, and "
        "`padding` [B, 1, 1, 1], those left of a row's first real token; nothing where it hides nothing",
        "plain_causal": "(c) `yes` where it says what is_causal=True says",
    },
    "attention": {
        "title": "the name of its class",
        "kernel": "(c) `yes` where a mask of None may stand for plain causality, or for nothing hidden",
        "definition": "(c, layer) its class; layer tells its forward arguments and its position scheme",
    },
    "temperature": {
        "factor": "(c, count) a float expression over `count`, the text of the tokens' positions or columns",
    },
    "ffn": {
        "title": "the name of its class",
        "definition": "(c) its class: x [B, T, C] -> [B, T, C]",
    },
    "router": {
        "title": "the name of its class",
        "definition": "(c, experts, top_k) its class: x [N, C] -> weights and numbers of the chosen experts, both [N, k]",
    },
    "embed": {
        "definition": "(c) a helper function, or nothing",
        "construct": "(c) the expression that makes the module, or nothing where it holds no parameters",
        "apply": "(c, module, x) an expression; x is the text of what comes in. It may mention `positions`, `dtype`, and of images "
        "`pixel_values`, `batch` and `grid`, the rows and columns of patches",
    },
    "objective": {
        "definition": "(c) the functions that make its loss, and its inputs where they are made from plain ones",
        "prepared": "(c) lines at the beginning of `forward`, over `labels`, or nothing",
        "apply": "(c, logits, labels) the expression of the loss of an output of the head, and of labels",
    },
    "init": {
        "definition": "(c, kept) the function that draws a module's own weights; kept: the classes of norms that hold a matrix, or nothing",
        "apply": "(c, module) the expression that draws all weights of a model",
    },
    "head": {
        "title": "the name of its class",
        "definition": "(c) classes and functions, or nothing",
        "construct": "(c) the expression that makes its module, or nothing where it holds no parameters",
        "apply": "(c, module) lines that bind each output of the head, from the hidden state `x` and `attention_mask`",
        "outputs": "(c) the fields of Output",
    },
}

# The axes whose modules read other tokens: they take the frame's arguments after x, and give back what is to be kept.
# The name is that of their result in a block.
MIXES = {"attention": "attended"}
# The axes whose classes take the extents of their weight and are named when they are first printed.
SHAPED = ("norm", "gain")
# The axes of which a block's residual branches are made: dropout follows them.
BRANCHES = ("attention", "ffn")
