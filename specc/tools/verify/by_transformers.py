"""A published checkpoint computed by the transformers library: the class that its config names, from local files only."""

from __future__ import annotations

import inspect
import json
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specc.diagnostics.finding import fail
from specc.tools.verify.inputs import Inputs

if TYPE_CHECKING:
    from numpy import ndarray


class ByTransformers:
    """The reference in float32, with eager attention. No code that a checkpoint brings along is run."""

    name = "transformers"

    def __init__(self, folder: Path, outputs: tuple[str, ...], causal: bool) -> None:
        import torch

        self.outputs, self.causal = outputs, causal
        with quiet():
            self.network = published_class(folder).from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, attn_implementation="eager", dtype=torch.float32
            )
            if (head := stored_head(folder)) is not None:
                untie(self.network, head)
        self.network.eval()
        self.of_choices = type(self.network).__name__.endswith("ForMultipleChoice")  # which takes [B, choices, T]: a row here is one choice
        self.takes = inspect.signature(self.network.forward).parameters

    def run(self, inputs: Inputs) -> dict[str, ndarray]:
        """One full pass. Positions count real tokens in a causal model."""
        import numpy as np

        if inputs.source is not None:
            return self._both(inputs, inputs.source)
        given = dict(inputs.given) | {"attention_mask": inputs.mask}
        if (pad := getattr(self.network.config, "pad_token_id", None)) is not None and "input_ids" in given:
            given["input_ids"] = np.where(inputs.mask == 0, pad, given["input_ids"])  # RoBERTa tells padding by it
        if self.causal:
            given["position_ids"] = given.pop("mrope_position_ids", np.maximum(inputs.mask.cumsum(1) - 1, 0))
        return self._computed({name: values for name, values in given.items() if name in self.takes})

    def _both(self, inputs: Inputs, source: Inputs) -> dict[str, ndarray]:
        """An encoder-decoder on a source and a target."""
        target = {f"decoder_{name}": values for name, values in inputs.given.items()}
        return self._computed(source.given | {"attention_mask": source.mask} | target)

    def _computed(self, given: dict[str, ndarray]) -> dict[str, ndarray]:
        import torch

        with torch.no_grad():
            tensors = {name: torch.from_numpy(values) for name, values in given.items()}
            if self.of_choices:
                tensors = {name: tensor[:, None] for name, tensor in tensors.items()}
            try:
                out = self.network(**tensors)
            except (ValueError, RuntimeError):  # an image of another size, which some classes take only when they are told
                if "pixel_values" not in tensors:
                    raise
                out = self.network(**tensors, interpolate_pos_encoding=True)
        return {name: getattr(out, name).numpy() for name in self.outputs}


def published_class(folder: Path) -> Any:
    """The class of the library that config.json names. Raises SpecError where it names none."""
    import transformers

    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise fail("SYS007", f"{folder} has no config.json that can be read: {error}") from None
    names = config.get("architectures") if isinstance(config, dict) else None
    name = names[0] if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str) else ""
    found = getattr(transformers, name, None) if name.isidentifier() else None
    if not isinstance(found, type) or not issubclass(found, transformers.PreTrainedModel):
        raise fail("SYS007", f"the config in {folder} names no class of transformers {transformers.__version__} in `architectures`")
    return found


def stored_head(folder: Path) -> Any:
    """The output matrix that a checkpoint holds; None where it holds none, or keeps it in another file than the usual one."""
    from safetensors import safe_open

    file = folder / "model.safetensors"
    if not file.is_file():
        return None
    with safe_open(file, "pt") as tensors:
        return tensors.get_tensor("lm_head.weight").float() if "lm_head.weight" in tensors.keys() else None


def untie(network: Any, head: Any) -> None:
    """Gives a network the output matrix that its checkpoint holds: of the T5 family the library ties every one, whatever the config says."""
    import torch

    own = getattr(network, "lm_head", None)
    if own is not None and not torch.equal(own.weight, head):
        own.weight = torch.nn.Parameter(head)


@contextmanager
def quiet():
    """Without the library's progress bars, advice and deprecations."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
