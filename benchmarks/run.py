"""What the graphs are worth: prefill and decode on ONNX Runtime, specc's graph beside its peers' and transformers eager.

    python benchmarks/run.py [--peers PYTHON] [--folder DIR] [--rounds N | --quick] [--chunk N] [--cpu-time] [--markdown]

All graphs come from one checkpoint (see compile.py) and run in this interpreter's ONNX Runtime, on the CPU, with the same
session options. In each round every contender gets a new process, since a process's speed depends on where its weights come
to lie in memory, passes the prompt once uncounted, and is timed. One works at a time. All pass the same tokens, and their
logits are compared with those of transformers: what computes something else does not count.
--cpu-time is for a machine that others use too: one thread, and the time it computes in place of the time that passes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from checkpoint import HEADS, KV_HEADS, VOCAB, WIDTH
from contenders import checkpoint, imported, peers, specc
from measure import Contender, Failed, number, ratio, say, spawn, table, versions, workplace

THREADS = 2
STEPS = 64
PROMPTS = (128, 2048)
CLOSE = 1e-3  # of logits that reach 1: a graph that computes something else is off by 0.1 and more
REST = 0.05  # seconds after which the threads of the contender before no longer spin


class OnGraph:
    """A decoder graph on ONNX Runtime. It is fed what its inputs ask for; the cache stays where it is between steps."""

    def __init__(self, path: str, threads: int) -> None:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        options.log_severity_level = 3
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = {i.name for i in self.session.get_inputs()}
        self.pasts = [i for i in self.session.get_inputs() if i.name.startswith("past_key_values.")]
        unknown = self.inputs - {"input_ids", "attention_mask", "position_ids"} - {i.name for i in self.pasts}
        if unknown:
            raise ValueError(f"no way to feed {', '.join(sorted(unknown))}")
        self.outputs = ["logits", *(i.name.replace("past_key_values.", "present.", 1) for i in self.pasts)]
        self.reset()

    def reset(self) -> None:
        import numpy as np
        from onnxruntime import OrtValue

        empty = np.zeros((1, KV_HEADS, 0, WIDTH // HEADS), np.float32)
        self.length, self.cache = 0, {i.name: OrtValue.ortvalue_from_numpy(empty) for i in self.pasts}

    def step(self, ids: Any) -> Callable[[], Any]:
        """ids [T] -> gives the logits [T, V]"""
        import numpy as np
        from onnxruntime import OrtValue

        total = self.length + len(ids)
        made = {
            "input_ids": ids[None],
            "attention_mask": np.ones((1, total), np.int64),
            "position_ids": np.arange(self.length, total, dtype=np.int64)[None],
        }
        feeds = {name: OrtValue.ortvalue_from_numpy(array) for name, array in made.items() if name in self.inputs}
        logits, *cache = self.session.run_with_ort_values(self.outputs, feeds | self.cache)
        self.length, self.cache = total, dict(zip(self.cache, cache, strict=True))
        return lambda: logits.numpy()[0]


class OnTorch:
    """transformers' own model, eager."""

    def __init__(self, path: str, threads: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        warnings.simplefilter("ignore")  # newer versions call the cache by another name, older ones by this one alone
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)
        torch.set_grad_enabled(False)
        self.model = AutoModelForCausalLM.from_pretrained(path).eval()
        self.reset()

    def reset(self) -> None:
        self.cache = None

    def step(self, ids: Any) -> Callable[[], Any]:
        """ids [T] -> gives the logits [T, V]"""
        import torch

        made = self.model(input_ids=torch.from_numpy(ids[None]), past_key_values=self.cache, use_cache=True)
        self.cache = made.past_key_values
        return lambda: made.logits[0].numpy()


def work(pipe, kind: type, path: str, cpu_time: bool) -> None:
    """A contender's process: answers what it is asked until the pipe closes."""
    try:
        clock = time.thread_time if cpu_time else time.perf_counter
        begin = clock()
        model = kind(path, 1 if cpu_time else THREADS)
        model.clock = clock
        pipe.send(clock() - begin)
        while True:
            task, prompt, chunk = pipe.recv()
            pipe.send({"time": timed, "logits": sampled}[task](model, prompt, chunk))
    except (EOFError, BrokenPipeError):  # nobody asks any more
        return
    except Exception as error:  # whatever it is, it is told in the table
        lines = str(error).strip().splitlines()
        pipe.send(Failed(f"failed: {(lines or [type(error).__name__])[0][:120]}"))


def tokens(prompt: int) -> Any:
    import numpy as np

    return np.random.default_rng(prompt).integers(0, VOCAB, prompt + STEPS, dtype=np.int64)


def timed(model: Any, prompt: int, chunk: int) -> tuple[float, float]:
    """-> seconds of the prefill, and of one step after it"""
    ids = tokens(prompt)
    for _ in ("uncounted", "counted"):
        model.reset()
        time.sleep(REST)
        begin = model.clock()
        for place in range(0, prompt, chunk):
            model.step(ids[place : min(place + chunk, prompt)])
    middle = model.clock()
    for place in range(prompt, prompt + STEPS):
        model.step(ids[place : place + 1])
    end = model.clock()
    model.reset()
    return middle - begin, (end - middle) / STEPS


def sampled(model: Any, prompt: int, chunk: int) -> Any:
    """-> logits at 32 places of the prompt and at every step, [32 + STEPS, V]"""
    import numpy as np

    ids = tokens(prompt)
    model.reset()
    prefill = np.concatenate([model.step(ids[place : min(place + chunk, prompt)])() for place in range(0, prompt, chunk)])
    found = [prefill[np.linspace(0, prompt - 1, 32, dtype=int)]]
    found += [model.step(ids[place : place + 1])() for place in range(prompt, prompt + STEPS)]
    model.reset()
    return np.concatenate(found)


@dataclass
class Runner:
    """One row of the tables, and the process behind it."""

    name: str
    kind: type
    path: Path
    trouble: str = ""
    peer: bool = True
    load: list[float] = field(default_factory=list)
    prefill: dict[int, list[float]] = field(default_factory=dict)
    decode: dict[int, list[float]] = field(default_factory=dict)
    error: dict[int, float] = field(default_factory=dict)
    _pipe: Any = None
    _process: Any = None

    def start(self, cpu_time: bool) -> None:
        if self.trouble:
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=work, args=(other, self.kind, str(self.path), cpu_time), daemon=True)
        self._process.start()
        other.close()
        load = self._answer()
        if load is not None:
            self.load.append(load)

    def ask(self, task: str, prompt: int, chunk: int) -> Any:
        """None where it failed, now or before."""
        if self.trouble:
            return None
        try:
            self._pipe.send((task, prompt, chunk))
        except OSError:
            self.trouble = "its process has ended"
            return None
        return self._answer()

    def _answer(self) -> Any:
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            answer = Failed(f"its process has ended ({self._process.exitcode})")
        if isinstance(answer, Failed):
            self.trouble = str(answer)
            return None
        return answer

    def stop(self) -> None:
        if self._process is not None:
            self._pipe.close()
            self._process.join(10)
            self._process.kill()
            self._process.join()
            self._process = None


def main() -> int:
    options = arguments()
    with workplace(options.folder) as folder:
        try:
            runners = built(options, folder)
        except Failed as error:
            print(f"no checkpoint to run: {error}", file=sys.stderr)
            return 1
        for prompt in options.prompts:
            agree(runners, prompt, options)
            rounds(runners, prompt, options)
    for prompt in options.prompts:
        pieces = f" in pieces of {options.chunk}" if options.chunk else ""
        print(f"{prompt} tokens of prompt{pieces}, then {STEPS} single steps\n")
        print(table(HEAD, rows(runners, prompt), options.markdown), end="\n\n")
    clock = "CPU time, 1 thread" if options.cpu_time else f"wall time, {THREADS} threads"
    print(f"medians; {clock}; {versions(sys.executable, ('onnxruntime', 'onnxruntime-gpu', 'torch', 'transformers'))}")
    print(f"graphs by {versions(options.peers, ('mobius-onnx', 'onnxruntime-genai'))}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="the interpreter that has the peers (default: this one)")
    parser.add_argument("--folder", metavar="DIR", help="work here and keep what is made (default: a temporary folder)")
    parser.add_argument("--rounds", type=int, default=11, help="rounds; half as many at 2,048 tokens (default: 11)")
    parser.add_argument("--prompts", type=int, nargs="+", default=PROMPTS, metavar="N", help="prompt lengths (default: 128 2048)")
    parser.add_argument("--chunk", type=int, metavar="N", help="pass the prompt on in pieces of N tokens (default: at once)")
    parser.add_argument("--cpu-time", action="store_true", help=f"CPU time of one thread (default: wall time of {THREADS})")
    parser.add_argument("--quick", action="store_true", help="three rounds")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    options.rounds = 3 if options.quick else max(1, options.rounds)
    return options


def built(options: argparse.Namespace, folder: Path) -> list[Runner]:
    """Builds every graph, once and untimed. Raises Failed where there is no checkpoint."""
    source = checkpoint(options.peers, folder / "checkpoint")
    own = specc(imported(source, folder / "model.specc"), source, folder / "specc-link", "link")
    own.name = "specc"
    runners = [Runner(one.name, OnGraph, graph(one), one.trouble, one is not own) for one in [own, *peers(options.peers, source, folder)]]
    return [*runners, Runner("transformers, eager", OnTorch, source)]


def graph(contender: Contender) -> Path:
    """Where a contender wrote its graph, which is written now."""
    if contender.trouble:
        return Path()
    try:
        contender.prepare()
        spawn(contender.command)
    except Failed as error:
        contender.trouble = str(error)
    return contender.out / "model.onnx"


def asked(runner: Runner, task: str, prompt: int, options: argparse.Namespace) -> Any:
    """One task in a new process; None where it failed."""
    if runner.trouble:
        return None
    try:
        runner.start(options.cpu_time)
        return runner.ask(task, prompt, options.chunk or prompt)
    finally:
        runner.stop()


def agree(runners: list[Runner], prompt: int, options: argparse.Namespace) -> None:
    """The largest difference of each contender's logits from transformers'."""
    import numpy as np

    *graphs, reference = runners
    wanted = asked(reference, "logits", prompt, options)
    for runner in graphs if wanted is not None else ():
        found = asked(runner, "logits", prompt, options)
        if found is not None:
            error = runner.error[prompt] = float(np.abs(found - wanted).max())
            say(f"{prompt} tokens  {runner.name}: logits within {error:.1e} of transformers, whose largest is {np.abs(wanted).max():.1f}")


def rounds(runners: list[Runner], prompt: int, options: argparse.Namespace) -> None:
    """Long prompts take half as many."""
    count = options.rounds if prompt < 1000 else max(1, options.rounds // 2)
    for turn in range(count):
        first = turn % len(runners)
        for runner in [*runners[first:], *runners[:first]]:
            taken = asked(runner, "time", prompt, options)
            if taken is not None:
                runner.prefill.setdefault(prompt, []).append(taken[0])
                runner.decode.setdefault(prompt, []).append(taken[1])
                say(f"{prompt} tokens  round {turn + 1}/{count}  {runner.name}: {taken[0] * 1000:.0f} ms, {1 / taken[1]:.1f} tokens/s")


HEAD = ("", "prefill ms", "ratio", "decode tokens/s", "ratio", "logits error", "load s")


def rows(runners: list[Runner], prompt: int) -> list[list[str]]:
    """Ratios of time to the fastest peer's in the same round: below 1 is faster than every peer."""
    best = {name: fastest(runners, name, prompt) for name in ("prefill", "decode")}
    lines = []
    for runner in runners:
        if prompt not in runner.prefill:
            lines.append([runner.name, runner.trouble or "not run", *["-"] * 5])
            continue
        prefill, decode, error = runner.prefill[prompt], runner.decode[prompt], runner.error.get(prompt)
        said = "not compared" if error is None else f"{error:.0e}" + (" WRONG" if error > CLOSE else "")
        times = [number(median(prefill) * 1000, 0), number(ratio(prefill, best["prefill"]), 2)]
        times += [number(1 / median(decode), 1), number(ratio(decode, best["decode"]), 2)]
        said = "reference" if runner is runners[-1] else said
        lines.append([runner.name, *times, said, number(median(runner.load), 2)])
    return lines


def fastest(runners: list[Runner], name: str, prompt: int) -> list[float]:
    """The times of the peer with the lowest median; one whose logits are wrong is no peer."""
    right = [r for r in runners if r.peer and prompt in r.prefill and r.error.get(prompt, 0.0) <= CLOSE]
    return min((getattr(r, name)[prompt] for r in right), key=median, default=[])


if __name__ == "__main__":
    sys.exit(main())
