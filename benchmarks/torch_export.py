"""The tracing way to ONNX, as a contender: torch.onnx.export of the transformers model, without a cache.

    python benchmarks/torch_export.py CHECKPOINT OUT
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    import torch
    from transformers import AutoModelForCausalLM

    checkpoint, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(checkpoint).eval()
    model.config.use_cache = False
    ids = torch.ones(2, 8, dtype=torch.int64)
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence")}
    with torch.no_grad():
        torch.onnx.export(
            model,
            kwargs={"input_ids": ids, "attention_mask": ids},
            f=out / "model.onnx",
            dynamo=True,
            external_data=True,
            dynamic_shapes={"input_ids": axes, "attention_mask": axes},
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
