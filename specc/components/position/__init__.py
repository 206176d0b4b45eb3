"""How attention learns where a token is.

A scheme offers four things, each of which may be nothing:
`tables(g, frame, width)`: values computed once for all layers that share the scheme, or None;
`rotate(g, q, k, heads, kv_heads, width, tables)`: q [B, T, H*D] and k [B, T, K*D] turned by their position;
`bias(g, frame, heads)`: a term [1 or B, H, T, S] added to the scores before the softmax, or None;
`score(g, q, k, call, attention)`: such a term made anew in each layer, out of parameters or queries and keys of its own.
Its parameters are held in two places: `shared_parameters` once for all layers of a stack that have the scheme, where `bias`
reads them, and `parameters` in each attention, where `score` does.
Schemes that add to the embedding instead are on the axis `embed`.

To add one: a file here, its line below, a template of the same name, and a test. Nothing else.
"""

MEMBERS = {
    "alibi": "alibi:Alibi",
    "disentangled": "disentangled:Disentangled",
    "grid_bias": "grid_bias:GridBias",
    "none": "none:NoPosition",
    "relative_bias": "relative_bias:RelativeBias",
    "shaw": "shaw:Shaw",
    "stored_rope": "stored_rope:StoredRope",
    "transformer_xl": "transformer_xl:TransformerXL",
    "rope": "rope:Rope",
}
