"""Printed formulas compute what their wiring says, however they are broken into statements."""

from __future__ import annotations

import pytest
import torch

from specc.ir.model import Layer
from specc.ir.wiring import Add, Call, Ref, Scale, Wire
from tests.backends.torch.models import SPECS, filled, named

UNCACHED = [name for name in SPECS if not named(name).stack.causal and "position = rope" not in SPECS[name]]


def value(wire: Wire, names: dict[str, torch.Tensor], layer: Layer, block: torch.nn.Module) -> torch.Tensor:
    match wire:
        case Ref(name=name):
            return names[name]
        case Add(terms=terms):
            return sum(value(term, names, layer, block) for term in terms)
        case Scale(factor=factor, of=of):
            return factor * value(of, names, layer, block)
        case Call(instance=path, inputs=(of,)):
            module = getattr(block, layer.instance(path).key)
            mask = () if not path.startswith("attention") else (torch.ones(1, 1, 1, 5, dtype=torch.bool),)
            return module(value(of, names, layer, block), *mask)
    raise AssertionError(wire)


@pytest.mark.parametrize("name", UNCACHED)
def test_a_block_computes_its_wiring(name: str):
    made = filled(name)
    for layer, block in zip(named(name).stack.layers, made.layers, strict=True):
        x = torch.randn(2, 5, 48)
        names = {layer.block.inputs[0]: x}
        with torch.no_grad():
            for assign in layer.block.body:
                names[assign.name] = value(assign.value, names, layer, block)
            got = block(x, torch.ones(1, 1, 1, 5, dtype=torch.bool))
        torch.testing.assert_close(got, names[layer.block.inputs[0]], rtol=1e-5, atol=1e-5)
