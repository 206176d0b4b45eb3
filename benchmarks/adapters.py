"""Two adapters over one graph: what changing from one to the other costs, and what an adapter costs per call.

    python benchmarks/adapters.py [--layers N] [--width N] [--rank N] [--markdown]

Exit status 1 where changing the adapter takes a tenth of the time that opening the graph anew takes, or the results are wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from measure import SPECC, spawn, versions

SPEC = """model base {{
  vocab = 8000  dim = {width}  depth = {layers}  context = 2048
  position = rope(theta: 10_000)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: {heads}, kv_heads: {heads})
  ffn = gated(hidden: {hidden}, activation: silu)
  block = pre_norm  head = lm(tied: true)
}}
"""
ADAPTER = "adapter {name} for base {{ lora(rank: {rank}, targets: [attention, ffn]) }}\n"
PROMPT, REPEAT = 32, 9


def timed(work: Callable[[], object], repeat: int = REPEAT) -> float:
    """Seconds, the median of some runs."""
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return median(taken)


def prepare(folder: Path, options: argparse.Namespace) -> None:
    """The model with random weights, two adapters with random ones, a graph that takes them and one in which the first is merged."""
    import numpy as np
    from safetensors.numpy import save_file

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from specc.faces.loading import one_subject

    spec = folder / "base.specc"
    text = SPEC.format(width=options.width, layers=options.layers, heads=options.width // 64, hidden=options.width * 3)
    spec.write_text(text + "".join(ADAPTER.format(name=name, rank=options.rank) for name in ("first", "second")))
    spawn([*SPECC, "weights", "init", str(spec), "--model", "base", "-o", str(folder)])
    draw = np.random.default_rng(0)
    for name in ("first", "second"):
        held = one_subject(str(spec), name).adapter.parameters()
        (folder / name).mkdir()
        save_file({key: draw.normal(0, 0.05, p.shape).astype("float32") for key, p in held.items()}, folder / name / "adapter.safetensors")
        given = ["--model", name, "--to", "onnx", "--weights", str(folder), "--adapter-weights", str(folder / name)]
        spawn([*SPECC, "build", str(spec), *given, "-o", str(folder / f"{name}-apart")])
        spawn([*SPECC, "build", str(spec), *given, "--merge", "-o", str(folder / f"{name}-merged")])
    spawn([*SPECC, "build", str(spec), "--model", "base", "--to", "onnx", "--weights", str(folder), "-o", str(folder / "plain")])


def measure(folder: Path) -> tuple[dict[str, float], bool]:
    """Seconds by what was done, and whether one graph with two adapters computed what the two merged ones do."""
    import numpy as np
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3

    def opened(name: str):
        return onnxruntime.InferenceSession(str(folder / name / "model.onnx"), settings, providers=["CPUExecutionProvider"])

    graph, plain, merged = opened("first-apart"), opened("plain"), {name: opened(f"{name}-merged") for name in ("first", "second")}
    feeds = {}
    for wanted in plain.get_inputs():
        shape = [{"batch": 1, "sequence": PROMPT, "total_sequence": PROMPT}.get(e, 0) if isinstance(e, str) else e for e in wanted.shape]
        kept = wanted.name.startswith("past")
        feeds[wanted.name] = np.zeros(shape, np.float32) if kept else np.broadcast_to(np.arange(shape[1]) % 90 if "mask" not in wanted.name else 1, shape).astype(np.int64)

    def adapter(name: str):
        held = onnxruntime.LoraAdapter()
        held.Load(str(folder / f"{name}-apart" / f"{name}.onnx_adapter"))
        run = onnxruntime.RunOptions()
        run.add_active_adapter(held)
        return held, run  # RunOptions does not keep the adapter alive

    held = {name: adapter(name) for name in ("first", "second")}
    right = True
    for name, (_, run) in held.items():
        (got,), (want,) = graph.run(["logits"], feeds, run), merged[name].run(["logits"], feeds)
        right &= bool(np.abs(got - want).max() <= 2e-5 * np.abs(want).max())
    seconds = {
        "open the graph": timed(lambda: opened("first-apart"), 3),
        "load the other adapter": timed(lambda: adapter("second")),
        f"{PROMPT} tokens, the model alone": timed(lambda: plain.run(["logits"], feeds)),
        f"{PROMPT} tokens, the graph without an adapter": timed(lambda: graph.run(["logits"], feeds)),
        f"{PROMPT} tokens, always the same adapter": timed(lambda: graph.run(["logits"], feeds, held["first"][1])),
        f"{PROMPT} tokens, the adapter merged": timed(lambda: merged["first"].run(["logits"], feeds)),
    }
    turns = iter(["first", "second"] * REPEAT)
    seconds[f"{PROMPT} tokens, another adapter each time"] = timed(lambda: graph.run(["logits"], feeds, held[next(turns)][1]))
    return seconds, right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name), options)
        size = (Path(name) / "first-apart" / "first.onnx_adapter").stat().st_size / 1e6
        seconds, right = measure(Path(name))
    print(f"{options.layers} layers of width {options.width}, rank {options.rank} on every linear map, an adapter of {size:.1f} MB")
    if options.markdown:
        print("\n|  | ms |\n| --- | ---: |")
    for what, took in seconds.items():
        print(f"| {what} | {1000 * took:.1f} |" if options.markdown else f"{what:<46} {1000 * took:9.1f} ms")
    print(versions(sys.executable, ("onnxruntime", "onnx")))
    quick = seconds["load the other adapter"] < 0.1 * seconds["open the graph"]
    if not right:
        print("the graph with an adapter does not compute what the merged graph does")
    return 0 if quick and right else 1


if __name__ == "__main__":
    sys.exit(main())
