"""A built graph opened on ONNX Runtime, its weight files checked first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from specc.backends.onnx.read import properties
from specc.diagnostics.finding import fail
from specc.tools.runtime.provider import CPU, cuda_obstacle, cuda_session, first_line
from specc.tools.runtime.sealed import weights_folder
from specc.weights.arrays import widened

if TYPE_CHECKING:
    from numpy import ndarray

Value = tuple[str, list[int | str]]  # element type and extents; symbolic extents are names
Provider = Literal["auto", "cpu", "cuda"]
BUILD = "`specc build SPEC --to onnx -o DIR --weights ...` writes one"
# ONNX's numbers for the element types of values that are made before the first step.
ELEMENT = {"tensor(float)": 1, "tensor(float16)": 10, "tensor(bfloat16)": 16, "tensor(int64)": 7, "tensor(bool)": 9}
BFLOAT16 = ELEMENT["tensor(bfloat16)"]


@dataclass(frozen=True, slots=True)
class Graph:
    """An opened graph. `device` is where values that are kept between two runs live: cpu or cuda."""

    session: Any
    inputs: dict[str, Value]
    outputs: dict[str, Value]
    folder: Path
    properties: dict[str, str]
    device: str
    remark: str
    beside: Mapping[str, Any] = field(default_factory=dict)  # what every run takes besides: an adapter

    @property
    def causal(self) -> bool:
        return self.properties["specc.kind"] == "causal"

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(self.properties["specc.head"].split())

    @property
    def vocab(self) -> int | None:
        return int(self.properties["specc.vocab"]) if "specc.vocab" in self.properties else None

    @property
    def context(self) -> int | None:
        return int(self.properties["specc.context"]) if "specc.context" in self.properties else None

    def empty(self, name: str, batch: int) -> Any:
        """The value of a cache input before the first token."""
        import onnxruntime

        kind, extents = self.inputs[name]
        shape = [extent if isinstance(extent, int) else batch if extent == "batch" else 0 for extent in extents]
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, ELEMENT[kind])

    def rows(self, value: Any, rows: ndarray) -> Any:
        """These rows of a kept value, in this order."""
        import onnxruntime

        if self.device != "cpu":
            return onnxruntime.OrtValue.ortvalue_from_numpy(value.numpy()[rows], self.device, 0)
        return onnxruntime.OrtValue.ortvalue_from_numpy(value.numpy()[rows])

    def run(self, feeds: Mapping[str, Any], wanted: Sequence[str], kept: Sequence[str] = ()) -> tuple[dict[str, ndarray], dict[str, Any]]:
        """-> the wanted outputs as arrays, and the kept ones as values that stay on the device. Feeds are either.

        Arrays are passed by a binding of this run alone: outputs whose shapes grow cannot be bound twice.
        """
        import numpy as np

        binding = self.session.io_binding()
        held = []  # the binding refers to an array's memory, and does not hold it
        for name, value in feeds.items():
            if isinstance(value, np.ndarray):
                held.append(np.ascontiguousarray(value))
                binding.bind_cpu_input(name, held[-1])
            else:
                binding.bind_ortvalue_input(name, value)
        for name, value in self.beside.items():  # a run with a binding takes no notice of active adapters: they are bound like inputs
            binding.bind_ortvalue_input(name, value)
        rows = {"batch": len(feeds["input_ids"]), "sequence": feeds["input_ids"].shape[1]} if "input_ids" in feeds else {}
        arrays = {}
        for name in wanted:
            kind, extents = self.outputs[name]
            if kind != "tensor(bfloat16)":
                binding.bind_output(name, "cpu")
                continue
            shape = [extent if isinstance(extent, int) else rows[extent] for extent in extents]
            arrays[name] = np.empty(shape, np.uint16)  # numpy has no bfloat16: the bits are written into an array of our own
            binding.bind_output(name, "cpu", 0, BFLOAT16, shape, arrays[name].ctypes.data)
        for name in kept:
            binding.bind_output(name, self.device)
        self.session.run_with_iobinding(binding)
        values = dict(zip([*wanted, *kept], binding.get_outputs(), strict=True))
        found = {name: widened(arrays[name], "BF16") if name in arrays else values[name].numpy() for name in wanted}
        return found, {name: values[name] for name in kept}


def open_graph(folder: Path, provider: Provider = "auto", fast_start: bool = False, name: str = "model.onnx", adapter: Path | None = None) -> Graph:
    """DIR/model.onnx as a session, with a .onnx_adapter. Raises SpecError where there is none, or the weights are not those it was built over."""
    path = folder / name
    if not path.is_file():
        raise fail("SYS021", f"{folder} holds no {name}", None, BUILD)
    known = properties(path)
    if not {"specc.model", "specc.weights", "specc.kind", "specc.head"} <= set(known):
        raise fail("SYS021", f"{path} was not built by this version of specc", None, BUILD)
    weights = weights_folder(folder, known["specc.weights"])
    options = _options(fast_start, None if weights == folder else weights)
    session, device, remark = _session(str(path), options, provider)
    inputs = {i.name: (i.type, i.shape) for i in session.get_inputs()}
    outputs = {o.name: (o.type, o.shape) for o in session.get_outputs()}
    beside = {} if adapter is None else _adapter(adapter, session)
    return Graph(session, inputs, outputs, folder, known, device, remark, beside)


def _adapter(file: Path, session: Any) -> dict[str, Any]:
    """The tensors of a .onnx_adapter file, all of which the graph must take."""
    import onnxruntime

    if not file.is_file():
        raise fail("SYS021", f"there is no file {file}", None, "`specc build ADAPTER --to onnx --adapter-weights DIR` writes one")
    try:
        found = dict(onnxruntime.AdapterFormat.read_adapter(str(file)).get_parameters())
    except Exception as error:
        raise fail("SYS021", f"onnxruntime cannot read {file}: {first_line(error)}") from None
    taken = {wanted.name: wanted.shape for wanted in session.get_overridable_initializers()}
    for name, value in found.items():
        if name not in taken or any(isinstance(e, int) and e != n for e, n in zip(taken[name], value.shape(), strict=False)):
            raise fail("SYS021", f"the graph takes no `{name}` of the shape that {file.name} holds", None, "build the graph from the same adapter")
    return found


def _options(fast_start: bool, weights: Path | None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Softmax over masked columns makes denormals, which cost a third of the time and change no result.
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    if fast_start:  # weights stay mapped as they lie in the file: no repacked copy, 80 times faster to open, a tenth slower to run
        options.add_session_config_entry("session.disable_prepacking", "1")
    if weights is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.resolve()))
    return options


def _session(path: str, options: Any, provider: Provider) -> tuple[Any, str, str]:
    """-> the session, its device, and one line that says which it is."""
    import onnxruntime

    version, why = f"onnxruntime {onnxruntime.__version__}", ""
    if provider != "cpu":
        why = cuda_obstacle() or ""
        if not why:
            session, why = cuda_session(path, options)
            if session is not None:
                return session, "cuda", f"{version} on CUDA"
        if provider == "cuda":
            raise fail("SYS020", f"CUDA cannot be used: {why}", None, "--provider cpu runs without it")
    try:
        session = onnxruntime.InferenceSession(path, options, providers=[CPU], enable_fallback=0)
    except Exception as error:  # onnxruntime's own kinds share no other base
        raise fail("SYS021", f"onnxruntime cannot open {path}: {first_line(error)}", None, BUILD) from None
    return session, "cpu", f"{version} on the CPU" + (f" ({why})" if why else "")
