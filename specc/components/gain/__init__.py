"""A learned factor on what a sublayer gives, channel by channel.

A gain offers `lower(g, x, call)`: x [N, C] -> [N, C].
"""

MEMBERS = {
    "layer_scale": "layer_scale:LayerScale",
}
