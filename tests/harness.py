"""A spec's text to a model with drawn weights and inputs, and what each back end makes of them.

Each back end is imported inside its function: the oracle's half of a test needs neither.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

from specc.components.registry import AXES, OF_TRAINING, load, members
from specc.diagnostics.finding import Report
from specc.ir.model import Model
from specc.ir.node import Parameter
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.source import Source
from tests.components.probe import Draw

LENGTH = 12
UNCHANGED = Draw()
# Row 1 holds padding: before, between and after real tokens; a causal query before the first real token sees nothing.
PADDED = {True: (0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1), False: (1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0)}

# Inputs that are no rows of a table. A run may come again: it is the number that counts. Positions differ from axis to axis.
BY_MEANING = {"beginning": (5, 3), "runs": ((7, 7, 7, 7, 7, 2, 2, 2, 7, 7, 2, 2), (0, 0, 0, 0, 1, 1, 1, 1, 1, 5, 5, 5))}
BY_MEANING["marks"] = ((0,) * 12, (1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0))
BY_MEANING["positions"] = [[[(5 * t + 3 * axis + 2 * b * (axis + 1)) % 11 for t in range(LENGTH)] for b in range(2)] for axis in range(3)]


@cache
def model_of(text: str) -> Model:
    """The last model of a spec."""
    program = load_source(Source("probe.specc", text), Path("probe.specc"))
    return resolve(program.models[program.own[-1]], program, Report()).model


def draw(model: Model, change: Draw = UNCHANGED) -> dict[str, np.ndarray]:
    """Weights by key, the same for the same key and shape. What starts as ones or zeros is drawn away from both."""
    weights = {}
    for key, parameter in model.parameters().items():
        value = _drawn(key, parameter)
        for pattern, factor in change.scale.items():
            value = value * factor if fnmatchcase(key, pattern) else value
        for pattern, amount in change.shift.items():
            value = value + amount if fnmatchcase(key, pattern) else value
        weights[key] = value.astype(np.float32)
    return weights


def _drawn(key: str, parameter: Parameter) -> np.ndarray:
    noise = np.random.default_rng([crc32(key.encode()), *parameter.shape]).standard_normal(parameter.shape)
    # a mean of neither 0 nor 1, whatever the init: an offset must not be undone by the draw
    return noise * 2 / np.sqrt(parameter.shape[-1]) if parameter.init == "normal" else 0.6 + 0.3 * noise


def inputs_of(model: Model, padded: bool = True) -> dict[str, np.ndarray]:
    """Two rows of tokens; every row of every small table is used, the last one too. Or two images of fewer rows and more columns than the model's own."""
    rng = np.random.default_rng(7)
    wanted = model.inputs()
    if image := model.stack.dims.image:
        (rows, columns), (down, across) = image.grid, image.patch
        height, width = max(1, rows - 1) * down + 1, (columns + 2) * across
        return {"pixel_values": rng.standard_normal((2, image.channels, height, width)).astype(np.float32)}
    counts = {i.path: i.component for i in model.stack.embedding.instances}
    inputs = {}
    for name in sorted(name for name, i in wanted.items() if i.values == "rows"):
        table = counts["embed.tokens"].vocab if name == "input_ids" else counts["embed.segments"].count
        values = rng.integers(0, table, (2, LENGTH))
        values[:, 4], values[:, 9] = table - 1, 0
        inputs[name] = values.astype(np.int64)
    fixed = {name: BY_MEANING[i.values] for name, i in wanted.items() if i.values != "rows"}
    inputs |= {name: np.array(values, np.int64) for name, values in fixed.items()}
    mask = np.ones((2, LENGTH), np.int64)
    if padded:
        mask[1] = PADDED[model.stack.causal]
    return inputs | {"attention_mask": mask}


# ---- PyTorch


def run_torch(model: Model, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The generated file, run as a module of its own."""
    import torch

    torch.set_num_threads(1)  # on matrices as small as these, threads only wait for one another
    network = _torch_module(model).Model()
    network.load_state_dict({key: torch.tensor(value) for key, value in weights.items()})
    network.eval()
    with torch.no_grad():
        out = network(**{name: torch.tensor(value) for name, value in inputs.items()})
    return {name: getattr(out, name).numpy() for name in model.outputs}


@lru_cache(maxsize=64)
def _torch_module(model: Model) -> ModuleType:
    import sys

    from specc.backends.torch.emit import emit

    module = ModuleType(f"generated_{crc32(repr(model).encode())}")
    sys.modules[module.__name__] = module  # dataclasses look their own module up
    exec(compile(emit(model), f"{module.__name__}.py", "exec"), module.__dict__)
    return module


# ---- ONNX Runtime


def run_onnx(model: Model, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The graph beside a weights file in specc's own layout, with an empty cache where there is one."""
    import onnxruntime

    from specc.weights.own import own_layout

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(_graph(model))
        header, tensors = own_layout(model)
        content = bytearray(header)
        for key in sorted(tensors, key=lambda key: tensors[key].offset):
            assert len(content) == tensors[key].offset
            content += weights[key].tobytes()
        (Path(folder) / "weights.safetensors").write_bytes(content)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = _feeds(session, inputs)
    names = [o.name for o in session.get_outputs() if not o.name.startswith("present.")]
    return dict(zip(names, session.run(names, feeds), strict=True))


def _feeds(session: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    batch = len(next(iter(inputs.values())))
    known = dict(inputs)
    if "attention_mask" in inputs:
        known.setdefault("position_ids", np.maximum(inputs["attention_mask"].cumsum(1) - 1, 0))
    feeds = {}
    for wanted in session.get_inputs():
        if wanted.name in known:
            feeds[wanted.name] = known[wanted.name]
        elif wanted.name.startswith("past_key_values."):
            shape = [extent if isinstance(extent, int) else batch if extent == "batch" else 0 for extent in wanted.shape]
            feeds[wanted.name] = np.zeros(shape, np.float32)
        else:
            raise AssertionError(f"the graph asks for {wanted.name}, and the harness does not know it")
    return feeds


@lru_cache(maxsize=64)
def _graph(model: Model) -> bytes:
    from specc.backends.onnx.emit import graphs
    from specc.weights.mapping import Stored
    from specc.weights.own import own_layout

    _, tensors = own_layout(model)
    return graphs(model, {key: Stored(tensor) for key, tensor in tensors.items()})["model.onnx"].SerializeToString()


# ---- every field of every component


def every_kind() -> list[tuple[str, str]]:
    """Of the axes that inference knows."""
    return [(axis, kind) for axis in AXES if axis not in OF_TRAINING for kind in members(axis)]


def architecture_fields(axis: str, kind: str) -> list[str]:
    cls = load(axis, kind)
    return [name for name in cls.model_fields if name != "kind" and cls.role(name) == "architecture"]
