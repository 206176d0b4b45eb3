"""Where the formula of a component stands: `tests/components/<axis>/<kind>.py`, found by name.

What such a file offers, by axis (c is the component, w its weights, all numbers float64):
- activation: `value(c, x)`, one number; `value(c, x, w)` where it has parameters
- norm, ffn: `token(c, w, x)`, one vector; an ffn that looks across tokens `sequence(c, w, x, frame)` instead
- attention: `sequence(c, w, x, frame)`, x [B, T, C]
- position: `rotate(c, x, position, length)`, one head's vector (`turned(x, table, c, position)` by a stored table), `bias(c, head, heads, query, key)`, one number by positions,
  `score(c, held, head, query, key, (q, k))`, one number by columns, weights and vectors, and `score_factor(c)`; each may be
  missing. length: one more than the largest position of the whole batch
- scaling: `frequency(c, i, theta, width, length)`, the pace of the pair i, and `amplitude(c)` and `score_factor(c)`, each missing
  where it is 1
- temperature: `factor(c, position, column)`, what a query is multiplied by
- router: `choose(c, w, x, top_k)`, the chosen experts of one vector, each with its weight; one that looks across tokens
  `assign(c, w, x, top_k)`, x [B, T, C], the same for every token
- mask: `visible(c, query, key, row)`, columns, and what tests.oracle.frame.Row says of the row
- embed: `vector(c, w, frame, b, t, x)`, x the vector that comes in, None for a source; a source of an image model
  `tokens(c, w, pixels, image)` instead, all of an image's, pixels [channels, H, W]
- head: `outputs(c, w, x, frame)`, x [B, T, C], a dict
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import numpy as np

from specc.ir.node import Component
from tests.oracle.weights import Weights

LEARNED = ("xielu",)  # activations that have parameters


def formula(component: Component) -> ModuleType:
    return import_module(f"tests.components.{component.axis}.{component.kind}")


def activate(component: Component, x: np.ndarray, w: Weights | None = None) -> np.ndarray:
    """The activation of every number of a vector; `w` are its parameters, where it has any."""
    value, more = formula(component).value, (w,) if component.kind in LEARNED else ()
    return np.array([value(component, float(number), *more) for number in x], np.float64)


def normalise(component: Component, w: Weights, x: np.ndarray) -> np.ndarray:
    """The norm of one vector."""
    return formula(component).token(component, w, x)
