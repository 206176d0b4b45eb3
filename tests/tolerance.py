"""How far two computations of the same numbers may lie apart in the tests: what the product itself allows."""

from specc.tools.tolerance import TOLERANCE, VISIBLE, distance

__all__ = ["TOLERANCE", "VISIBLE", "distance"]
