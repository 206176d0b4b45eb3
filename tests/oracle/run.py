"""A whole model in numpy float64, token by token, straight from the IR: what both back ends are held against.

It shares no code with the components. The wiring is walked here; each kind's formula stands beside its probes in
`tests/components/<axis>/<kind>.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from specc.ir.model import Embedding, Instance, Layer, Model
from specc.ir.node import Component
from specc.ir.wiring import Add, Call, Concat, Insert, Ref, Scale, Wire
from tests.oracle.formulas import formula
from tests.oracle.frame import Frame, positions
from tests.oracle.weights import Weights


def run(model: Model, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One full pass. inputs: input_ids [B, T], attention_mask [B, T] (1 is real; may be missing), and what else the model asks for.

    Of a model that reads images: pixel_values [B, channels, H, W], and nothing else.
    """
    (stack,) = model.stacks
    if stack.dims.image is not None:
        return _run_image(model, weights, inputs)
    ids = inputs["input_ids"]
    valid = inputs.get("attention_mask", np.ones_like(ids)).astype(bool)
    frame = Frame(stack, inputs, valid, positions(stack, valid), weights.get("embed_tokens.weight"), schemes=Weights(weights, ""))
    return _tower(model, weights, frame, _embed(stack.embedding, weights, frame))


def _run_image(model: Model, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same for images: how many tokens there are shows once they are embedded, and all of them are real."""
    stack = model.stack

    def call(instance: Instance, arguments: list[np.ndarray]) -> np.ndarray:
        component, w = instance.component, Weights(weights, f"{instance.key}.")
        if component.axis != "embed":
            return apply(component, w, *arguments, None)
        module = formula(component)
        if arguments:
            return np.array([[module.vector(component, w, None, 0, 0, token) for token in image] for image in arguments[0]])
        return np.array([module.tokens(component, w, pixels, stack.dims.image) for pixels in inputs["pixel_values"]], np.float64)

    x = _flow(stack.embedding.value, {}, stack.embedding, call)
    valid = np.ones(x.shape[:2], bool)
    return _tower(model, weights, Frame(stack, inputs, valid, positions(stack, valid), None, schemes=Weights(weights, "")), x)


def _tower(model: Model, weights: Mapping[str, np.ndarray], frame: Frame, x: np.ndarray) -> dict[str, np.ndarray]:
    """Layers, final norm and heads over the embedding x [B, T, C]."""
    stack = model.stack
    for number, layer in enumerate(stack.layers):
        x = _layer(layer, Weights(weights, f"layers.{stack.set_of(number)}."), x, replace(frame, layer=layer, number=number))
    if stack.final_norm is not None:
        x = apply(stack.final_norm, Weights(weights, "final_norm."), x, frame)
    outputs: dict[str, np.ndarray] = {}
    for head in model.heads:
        outputs |= formula(head.component).outputs(head.component, Weights(weights, f"{head.key}."), x, frame)
    return outputs


def apply(component: Component, w: Weights, x: np.ndarray, frame: Frame) -> np.ndarray:
    """A sublayer on x [B, T, C]: on the whole of it where its formula wants that, else on each token alone."""
    module = formula(component)
    if hasattr(module, "sequence"):
        return module.sequence(component, w, x, frame)
    batch, length, _ = x.shape
    return np.array([[module.token(component, w, x[b, t]) for t in range(length)] for b in range(batch)])


def _layer(layer: Layer, w: Weights, x: np.ndarray, frame: Frame) -> np.ndarray:
    (first,) = layer.block.inputs
    bound = {first: x}

    def call(instance: Instance, arguments: list[np.ndarray]) -> np.ndarray:
        (argument,) = arguments
        return apply(instance.component, w.under(instance.key), argument, frame)

    for assign in layer.block.body:
        bound[assign.name] = _flow(assign.value, bound, layer, call)
    return bound[first]


def _embed(embedding: Embedding, weights: Mapping[str, np.ndarray], frame: Frame) -> np.ndarray:
    batch, length = frame.valid.shape

    def call(instance: Instance, arguments: list[np.ndarray]) -> np.ndarray:
        component, w = instance.component, Weights(weights, f"{instance.key}.")
        if component.axis != "embed":
            return apply(component, w, *arguments, frame)
        vector = formula(component).vector
        rows = [[vector(component, w, frame, b, t, *(a[b, t] for a in arguments)) for t in range(length)] for b in range(batch)]
        return np.array(rows, np.float64)

    return _flow(embedding.value, {}, embedding, call)


def _flow(wire: Wire, bound: Mapping[str, np.ndarray], owner: Layer | Embedding, call) -> np.ndarray:
    match wire:
        case Ref():
            return bound[wire.name]
        case Call():
            return call(owner.instance(wire.instance), [_flow(w, bound, owner, call) for w in wire.inputs])
        case Add():
            total = _flow(wire.terms[0], bound, owner, call)
            for term in wire.terms[1:]:
                total = total + _flow(term, bound, owner, call)
            return total
        case Concat():
            return np.concatenate([_flow(w, bound, owner, call) for w in wire.parts], axis=1)
        case Insert():
            what, into = _flow(wire.what, bound, owner, call), _flow(wire.into, bound, owner, call)
            return np.concatenate([into[:, : wire.at], what, into[:, wire.at :]], axis=1)
        case Scale():
            return wire.factor * _flow(wire.of, bound, owner, call)
    raise AssertionError(wire)
