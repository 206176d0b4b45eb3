"""The whole proof of one model: its miniature or its real checkpoint, every comparison, every field."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specc.ir.model import Model
from specc.tools.shrink import SMALL, miniature
from specc.tools.verify.by_onnx import ByOnnx
from specc.tools.verify.by_torch import ByTorch
from specc.tools.verify.compare import Row, compared
from specc.tools.verify.inputs import Inputs, inputs, probing, proof_length
from specc.tools.verify.locate import first_difference
from specc.tools.verify.numbers import drawn, save
from specc.tools.verify.perturb import Field, Perturbing

SHORT = 16  # tokens for a model in its real size


@dataclass(frozen=True, slots=True)
class Proof:
    """What was compared, and what came of it."""

    model: str
    subject: str
    rows: tuple[Row, ...]
    fields: tuple[Field, ...] = ()
    parted: str = ""  # where the back ends first differ, if they do

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows) and all(field.ok for field in self.fields)


def verify_miniature(model: Model, seed: int = 0) -> Proof:
    """The model's miniature with drawn weights: both back ends, and every field of it given another value."""
    small = miniature(model)
    length = proof_length(small)
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder, numbers = Path(name), drawn(small, seed)
        save(small, numbers, folder)
        torch, onnx = ByTorch(small, numbers, folder), ByOnnx(small, folder)
        rows = tuple(compared(small, length, torch, onnx))
        given = probing(small, length)
        tried = Perturbing(
            small,
            tuple(torch.run(one) for one in given),
            given,
            lambda changed: _all(ByTorch(changed, numbers, folder), given),
            lambda changed: _all(ByOnnx(changed, folder), given),
        )
        fields = tuple(tried.fields())
        parted = ""
        if not rows[0].ok:
            whole = inputs(small, length, False)
            parted = first_difference(
                small,
                whole,
                lambda cut: ByTorch(cut, numbers, folder).run(whole),
                lambda cut: ByOnnx(cut, folder, layout=small).run(whole),
            )
    return Proof(model.name, _described(model, small, length), rows, fields, parted)


def _all(computed: Any, given: tuple[Inputs, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(computed.run(one) for one in given)


def verify_checkpoint(model: Model, weights: Path, published: Any = None, subject: str = "") -> Proof:
    """The model in its real size with the weights of a checkpoint; `published` computes the same, if it is given."""
    from specc.backends.onnx import write

    short = not subject and model.stack.padded  # an image comes whole
    length = min(SHORT, proof_length(model)) if short else proof_length(model)
    small = sum(p.size for p in model.parameters().values()) < SMALL
    with near(weights) as folder, one_thread() if small else nullcontext():
        graphs = write.write(model, folder, weights, dtype="fp32").graphs
        rows = tuple(compared(model, length, ByTorch(model, None, weights), ByOnnx(model, folder, graphs), published))
    return Proof(model.name, subject or f"in its own size, with the weights in {weights.name}, {length} tokens", rows)


def _described(model: Model, small: Model, length: int) -> str:
    count = sum(p.size for p in small.parameters().values())
    depths = [(len(own.layers), len(whole.layers)) for own, whole in zip(small.stacks, model.stacks, strict=True)]
    layers = " and ".join(f"{some} of {all_}" for some, all_ in depths)
    what = f"{layers} layers, width {small.stack.dims.dim} of {model.stack.dims.dim}"
    return f"{what if small is not model else 'in its own size'}, {count:,} drawn weights, {length} tokens"


@contextmanager
def near(weights: Path) -> Iterator[Path]:
    """A temporary folder beside the checkpoint, where its files can be linked; elsewhere if that may not be written."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=".specc-verify-", dir=weights.resolve().parent)
    except OSError:
        folder = tempfile.TemporaryDirectory()
    with folder as name:
        yield Path(name)


@contextmanager
def one_thread() -> Iterator[None]:
    """A miniature computes in less time than threads take to start."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
