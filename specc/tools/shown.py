"""Which attention maps a build is to give beside the model's own outputs: `--outputs attentions:last`."""

from __future__ import annotations

from specc.diagnostics.finding import SpecError, fail
from specc.ir.model import Model
from specc.ir.wiring import calls

FORMS = "attentions:last, attentions:all, or attentions:3 with the number of a layer, counted from 0"


def shown_layers(texts: list[str], model: Model) -> frozenset[int]:
    """The numbers of the layers that the texts ask for. Raises SpecError where one means nothing, or cannot be had of this model."""
    count, found = len(model.stack.layers), set()
    for text in (part for given in texts for part in given.split(",")):
        what, _, which = text.strip().partition(":")
        if what != "attentions" or not (which in ("last", "all") or which.isdecimal()):
            raise fail("OUT001", f"there is no output `{text.strip()[:80]}`", None, f"the forms are {FORMS}")
        if which.isdecimal() and int(which) >= count:
            raise fail("OUT001", f"the model has {count} layers, and `{text.strip()}` asks for another", None, f"they are counted from 0 to {count - 1}")
        found |= set(range(count)) if which == "all" else {count - 1} if which == "last" else {int(which)}
    if found and model.encoder is not None:
        raise fail("OUT002", f"`{model.name}` has an encoder and a decoder, and attention maps of such models cannot be given yet")
    for number in sorted(found):
        _check(model, number)
    return frozenset(found)


def check_provider(shown: frozenset[int], provider: str, dtype: str) -> None:
    """ONNX Runtime's Attention gives no weights on CUDA. Raises SpecError."""
    if shown and (provider == "cuda" or dtype == "bf16"):
        raise fail("OUT002", "ONNX Runtime gives attention maps on the CPU only", None, "leave --outputs out, or build for --provider cpu")


def _check(model: Model, number: int) -> None:
    """A map is what one attention of a layer takes of each token."""
    layer = model.stack.layers[number]
    parts = [layer.instance(call.instance).component for assign in layer.block.body for call in calls(assign.value)]
    attentions = [part for part in parts if part.axis == "attention"]
    if len(attentions) != 1:
        raise _cannot(number, f"calls {len(attentions)} attentions, and a map is that of one")
    if not attentions[0].shows_weights:
        raise _cannot(number, f"has attention of the kind `{attentions[0].kind}`, whose map cannot be given")


def _cannot(number: int, why: str) -> SpecError:
    return fail("OUT002", f"layer {number} {why}")
