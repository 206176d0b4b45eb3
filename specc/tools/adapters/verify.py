"""The proof of an adapter: new ones change nothing, both back ends follow trained ones, merged ones are the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from specc.ir.adapter import Adapter, sites, stays
from specc.tools.adapters.backends import AdaptedOnnx, AdaptedTorch
from specc.tools.shrink import miniature
from specc.tools.tolerance import TOLERANCE, VISIBLE
from specc.tools.verify.compare import Row, compared
from specc.tools.verify.inputs import inputs, proof_length
from specc.tools.verify.numbers import drawn, save
from specc.tools.verify.perturb import Field, apart
from specc.tools.verify.run import Proof, one_thread

if TYPE_CHECKING:
    from numpy import ndarray

AHEAD = 4  # keys or tokens in front, at most, of a miniature
STRONGER = 1.5


def verify_adapter(adapter: Adapter, seed: int = 0) -> Proof:
    """The adapter over its model's miniature, with drawn weights."""
    small = shrunk(adapter)
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder, numbers = Path(name), drawn(small.base, seed)
        save(small.base, numbers, folder)
        tensors = drawn_adapter(small, seed)
        length = max(2, proof_length(small.base) - 2 * AHEAD) if small.ahead else proof_length(small.base)
        rows = tuple(_rows(small, numbers, tensors, folder, length))
        fields = tuple(_fields(small, numbers, tensors, folder, length))
    count = sum(p.size for p in small.parameters().values())
    subject = f"over {'the miniature of ' if small.base is not adapter.base else ''}{adapter.base.name}, {count:,} trained parameters, {length} tokens"
    return Proof(adapter.name, subject, rows, fields)


def shrunk(adapter: Adapter) -> Adapter:
    """The same methods over the model's miniature, in all of its layers; those whose patterns name none of it are left out."""
    base, methods = miniature(adapter.base), []
    for method in adapter.methods:
        if base is not adapter.base:
            method = method.replaced(layers=None) if method.layers is not None else method
        method = method.replaced(length=min(method.length, AHEAD)) if hasattr(method, "length") else method
        methods += [method] * bool(sites(method, base))
    return adapter.replaced(base=base, methods=tuple(methods))


def drawn_adapter(adapter: Adapter, seed: int) -> dict[str, ndarray]:
    """A value for every tensor of the adapter, none of them neutral."""
    import numpy as np

    draw = np.random.default_rng(seed)
    found = {}
    for name, p in adapter.parameters().items():
        noise = draw.standard_normal(p.shape).astype("float32")
        found[name] = 1 + 0.3 * noise if p.init == "ones" or name.endswith(".magnitude") else noise * (0.3 if len(p.shape) < 2 else p.shape[-1] ** -0.5)
    return found


def _rows(adapter: Adapter, numbers: dict, tensors: dict, folder: Path, length: int) -> Iterator[Row]:
    torch, onnx = AdaptedTorch(adapter, numbers, folder, tensors), AdaptedOnnx(adapter, folder, tensors)
    yield from compared(adapter.base, length, torch, onnx)
    given = inputs(adapter.base, length, True, seed=1)
    beside = torch.run(given)
    torch.over.enabled = False
    plain = torch.run(given)
    torch.over.enabled = True
    yield Row("without the adapter", "ONNX Runtime", "PyTorch", apart(AdaptedOnnx(adapter, folder, None).run(given), plain, given, least=1.0))
    if not adapter.ahead:
        yield Row("a new adapter", "PyTorch", "the model", apart(AdaptedTorch(adapter, numbers, folder, None).run(given), plain, given, least=1.0), 0.0)
    if stays(adapter) is None:
        torch.over.merge()
        yield Row("merged", "PyTorch", "beside the weights", apart(torch.run(given), beside, given, least=1.0))
        torch.over.unmerge()
        yield Row("taken apart again", "PyTorch", "beside the weights", apart(torch.run(given), beside, given, least=1.0), 0.0)


def _fields(adapter: Adapter, numbers: dict, tensors: dict, folder: Path, length: int) -> Iterator[Field]:
    """Each number of a method changed: the results must move, and both back ends alike."""
    given = inputs(adapter.base, length, False)
    before = AdaptedTorch(adapter, numbers, folder, tensors).run(given)
    for at, method in enumerate(adapter.methods):
        for name, value in method:
            if not isinstance(value, float) or type(method).role(name) != "architecture":
                continue
            changed = adapter.replaced(methods=tuple(m.replaced(**{name: STRONGER * value}) if n == at else m for n, m in enumerate(adapter.methods)))
            after = AdaptedTorch(changed, numbers, folder, tensors).run(given)
            moved, error = apart(after, before, given), apart(AdaptedOnnx(changed, folder, tensors).run(given), after, given, least=1.0)
            verdict = "still" if moved <= VISIBLE * TOLERANCE["float32"] else "differs" if error > TOLERANCE["float32"] else "moves"
            yield Field(f"{method.kind}.{name}", verdict, f"{value:g} -> {STRONGER * value:g}", moved, error)

