"""How `specc run --image` prints: the likeliest classes, or the first values of every output."""

from __future__ import annotations

import argparse
import json
from typing import Any

from specc.faces.image_options import pictures

BEST = 5


def print_images(graph, options: argparse.Namespace) -> None:
    """What a model says of each image, as soon as it is known; as JSON all together."""
    from specc.tools.runtime.images import look

    records = []
    for file, picture in zip(options.image, pictures(graph, options.image, options), strict=True):
        outputs = look(graph, picture, [name for name in graph.outputs if not name.startswith("attentions.")])
        record, lines = _reading(graph, outputs)
        records.append({"image": file} | record)
        if options.format != "json":
            print("\n".join([f"== {file}"] * (len(options.image) > 1) + lines))
    if options.format == "json":
        print(json.dumps(records, ensure_ascii=False))


def _reading(graph, outputs: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """-> the record for JSON, and the lines for people."""
    from specc.faces.run_output import first_values
    from specc.tools.runtime.encode import classify

    if "logits" in outputs:
        (found,) = classify(graph, outputs["logits"][None])
        best = sorted(found.scores.items(), key=lambda pair: -pair[1])[:BEST]
        return {"label": found.label, "score": found.score, "scores": found.scores}, [f"{label}  {score:.4f}" for label, score in best]
    return {name: array.tolist() for name, array in outputs.items()}, [
        f"{name} {list(array.shape)}: {first_values(array)}" for name, array in outputs.items()
    ]
