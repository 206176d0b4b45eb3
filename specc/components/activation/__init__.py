"""Elementwise non-linearities.

An activation offers `lower(g, x)`, where it has parameters in a scope of its own, `activation`; its template prints one expression.
"""

MEMBERS = {
    "gelu": "gelu:Gelu",
    "gelu_tanh": "gelu_tanh:GeluTanh",
    "quick_gelu": "quick_gelu:QuickGelu",
    "relu": "relu:Relu",
    "relu2": "relu2:SquaredRelu",
    "silu": "silu:Silu",
    "swish": "swish:Swish",
    "tanh": "tanh:Tanh",
    "xielu": "xielu:XIELU",
}
