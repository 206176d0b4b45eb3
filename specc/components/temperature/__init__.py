"""How attention sharpens with the distance that a query looks back.

A temperature offers `factor(g, frame)`: -> float32 [T, 1] or [B, T, 1], which multiplies the queries.
"""

MEMBERS = {
    "logarithmic": "logarithmic:Logarithmic",
}
