"""How long a graph of many small experts takes to be built, and to be loaded by ONNX Runtime.

    python benchmarks/experts.py [--layers N] [--experts N] [--limit SECONDS]

Exit status 1 where loading takes more CPU time than the limit: it is the work of one thread, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import SPECC, spawn, versions

SPEC = """model experts {{
  vocab = 1000  dim = 64  depth = {layers}  context = 512
  position = rope(theta: 10_000)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2)
  ffn = moe(experts: {experts}, top_k: 8, expert: gated(hidden: 32, activation: silu), router: softmax(normalize: true))
  block = pre_norm  head = lm(tied: true)
}}
"""
LOAD = """
import sys, onnxruntime, numpy as np
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
feeds = {}
for i in session.get_inputs():
    shape = [{"batch": 1, "sequence": 4, "total_sequence": 4}.get(n, 0) if isinstance(n, str) else n for n in i.shape]
    feeds[i.name] = np.ones(shape, np.float32 if "past" in i.name else np.int64)
assert np.isfinite(session.run(["logits"], feeds)[0]).all()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--experts", type=int, default=128)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of CPU time that loading may take")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = folder / "experts.specc"
        spec.write_text(SPEC.format(layers=options.layers, experts=options.experts))
        spawn([*SPECC, "weights", "init", str(spec), "-o", name])
        built = spawn([*SPECC, "build", str(spec), "--to", "onnx", "-o", name])
        loaded = spawn([sys.executable, "-c", LOAD, str(folder / "model.onnx")])
        size = (folder / "model.onnx").stat().st_size / 1e6
    print(f"{options.layers} layers of {options.experts} experts, a graph of {size:.1f} MB")
    for what, (seconds, work, megabytes) in (("build", built), ("load, and one call", loaded)):
        print(f"{what:<20} {seconds:6.1f} s  {work:6.1f} s of CPU  {megabytes:6.0f} MB at most")
    print(versions(sys.executable, ("onnxruntime", "onnx")))
    return 1 if loaded[1] > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
