"""No positional scheme: queries and keys stay as they are, and nothing is added to the scores."""

from __future__ import annotations

from tests.components.probe import Case, spec

CASES = (
    Case(spec(position="none"), (spec(position="rope"),)),
    Case(spec(position=None), (spec(position="rope"),)),
    Case(
        spec("layer turned { position = rope }  layer plain { position = none }  layers = [turned, plain]", position=None),
        (spec(position="rope"), spec(position="none")),
    ),
)
