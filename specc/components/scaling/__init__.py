"""How rotary frequencies change so that a model reads further than it was trained.

A scaling offers `frequencies(g, frame, theta, width)`: -> float32 [width / 2], a constant or computed from the call's
longest position, and `amplitude(dims)`, the factor on cosines and sines. Frequencies are rounded step by step as torch
rounds them: one unit in the last place is 8e-3 radians at position 131,072.
"""

MEMBERS = {
    "dynamic": "dynamic:Dynamic",
    "linear": "linear:Linear",
    "llama3": "llama3:Llama3",
    "longrope": "longrope:LongRope",
    "proportional": "proportional:Proportional",
    "yarn": "yarn:Yarn",
}
