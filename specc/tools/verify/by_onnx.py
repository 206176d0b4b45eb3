"""A model computed by ONNX Runtime on the CPU, from its ONNX graph over a weights file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from specc.ir.model import Model
from specc.tools.verify.inputs import Inputs

if TYPE_CHECKING:
    from numpy import ndarray

PAST, PRESENT = "past_key_values.", "present."


class ByOnnx:
    """The graphs of a model over weights in specc's own layout in `folder`; or graphs as they were written.

    layout: the model that the weights were saved for, where it holds more than this one.
    """

    name = "ONNX Runtime"
    beside: ClassVar[dict[str, Any]] = {}  # what every call takes besides

    def __init__(self, model: Model, folder: Path, graphs: tuple[Path, ...] = (), layout: Model | None = None) -> None:
        import onnxruntime

        self.outputs = tuple(model.outputs)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        sources: list[Any] = list(graphs)
        if not graphs:
            sources = self.graphs(model, layout or model)
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
            options.intra_op_num_threads = options.inter_op_num_threads = 1  # a miniature computes in less time than threads start
        *before, self.session = (onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"]) for source in sources)
        self.encoder = before[0] if before else None
        self.kept = [o.name for o in self.session.get_outputs() if o.name.startswith(PRESENT)]

    def graphs(self, model: Model, layout: Model) -> list[bytes]:
        return _graphs(model, layout)

    def run(self, inputs: Inputs) -> dict[str, ndarray]:
        """One full pass, from an empty cache where there is one."""
        return self._call(self._read(inputs), inputs.mask, {})[0]

    def _read(self, inputs: Inputs) -> dict[str, ndarray]:
        """What the graph that the head stands in takes, for an encoder-decoder with what the encoder makes of the source."""
        source = inputs.source
        if source is None:
            return inputs.given
        (hidden,) = self.encoder.run(["last_hidden_state"], source.given | {"attention_mask": source.mask})
        return inputs.given | {"encoder_hidden_states": hidden, "encoder_attention_mask": source.mask}

    def steps(self, inputs: Inputs, pieces: list[int]) -> dict[str, ndarray]:
        """The same in pieces, each taking up the cache that the one before left."""
        import numpy as np

        found, past, start = [], {}, 0
        whole = self._read(inputs)
        beside = {name: values for name, values in whole.items() if name not in inputs.given}
        for piece in pieces:
            end = start + piece
            part = inputs.piece(start, end)
            out, past = self._call(part.given | beside, part.mask, past)
            found.append(out)
            start = end
        return {name: np.concatenate([part[name] for part in found], axis=1) for name in self.outputs}

    def _call(self, given: dict[str, ndarray], mask: ndarray, past: dict[str, ndarray]) -> tuple[dict[str, ndarray], dict[str, ndarray]]:
        import numpy as np

        batch, new = given["input_ids"].shape if "input_ids" in given else mask.shape
        known = {"attention_mask": mask, "position_ids": np.maximum(mask.cumsum(1) - 1, 0)[:, -new:]} | given | past
        extents = {"batch": batch, "sequence": new, "total_sequence": mask.shape[1], "past_sequence": 0, "past_encoder_sequence": 0}
        feeds = {}
        for wanted in self.session.get_inputs():
            feeds[wanted.name] = known[wanted.name] if wanted.name in known else _zeros(wanted, extents)
        values = self.session.run([*self.outputs, *self.kept], feeds | self.beside)
        out = dict(zip(self.outputs, values, strict=False))
        present = dict(zip(self.kept, values[len(self.outputs) :], strict=True))
        return out, {PAST + name.removeprefix(PRESENT): value for name, value in present.items()}


def _graphs(model: Model, layout: Model) -> list[bytes]:
    from specc.backends.onnx import emit
    from specc.weights.mapping import Stored
    from specc.weights.own import own_layout

    wanted = model.parameters()
    stored = {key: Stored(info) for key, info in own_layout(layout)[1].items() if key in wanted}
    return [graph.SerializeToString() for graph in emit.graphs(model, stored).values()]


def _zeros(wanted: Any, extents: dict[str, int]) -> ndarray:
    """A cache that holds nothing yet; or what PyTorch takes for an input that is not given."""
    import numpy as np

    shape = [extent if isinstance(extent, int) else extents[extent] for extent in wanted.shape]
    return np.zeros(shape, np.float32 if wanted.name.startswith(PAST) else np.int64)
