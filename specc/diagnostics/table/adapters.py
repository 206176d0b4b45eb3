"""ADP: adapters and their checkpoints."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import spec


def _adapter(body: str, target: str = "m") -> str:
    return f"{spec()}\nadapter a for {target} {{ {body} }}\n"


_RIGHT = _adapter("lora(rank: 8, targets: [attention.q])")


def codes() -> list[Code]:
    return [
        Code("ADP001", "an adapter without a method", "An adapter holds one method or more.", _adapter("rank = 8"), _RIGHT),
        Code(
            "ADP002",
            "not a place of a model",
            "Where an adapter acts is a list of roles (`attention.q`), of patterns over keys in quotes, or of roles that are `fused(...)`.",
            _adapter("lora(rank: 8, targets: [8])"),
            _RIGHT,
        ),
        Code(
            "ADP003",
            "a target that does not say which model",
            "An adapter lies over one model: the only one of a file, or one that is named.",
        ),
        Code(
            "ADP004",
            "a method that acts nowhere",
            "A target of an adapter names nothing in its model. A target that did nothing would train nothing, silently.",
            _adapter("lora(rank: 8, targets: [attention.query])"),
            _RIGHT,
        ),
        Code(
            "ADP005",
            "two methods on one place",
            "Two methods of a kind may not act on one place, nor any other beside one that makes a map's result anew.",
            _adapter("lora(rank: 8, targets: [attention.q, attention.q])"),
            _RIGHT,
        ),
        Code(
            "ADP006",
            "a method that cannot act there",
            "The method has no meaning at this place of the model.",
            _adapter("lora(rank: 8, targets: [embed.tokens], dora: true)"),
            _adapter("lora(rank: 8, targets: [embed.tokens])"),
        ),
        Code(
            "ADP007",
            "an adapter that cannot be merged",
            "What the adapter does is no change of the model's weights, or would change what shares them.",
        ),
        Code(
            "ADP008",
            "adapter weights that do not fit",
            "The file holds other tensors than the adapter, or none.",
        ),
        Code(
            "ADP009",
            "an adapter config that cannot be taken over",
            "The config asks for something that the language does not have, or does not agree with the tensors beside it.",
        ),
        Code("ADP010", "an unknown field of an adapter config", "The field is not known, and was not taken over."),
        Code("ADP011", "an adapter that the published layout cannot hold", "peft's folder holds one method, on modules of the published model."),
    ]
