"""A LoRA trained on a real checkpoint: the loss falls, only the adapter changes, and the graph gives the trained model's numbers."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from specc.faces.cli import main
from tests.real.packages import minilm
from tests.tolerance import TOLERANCE, distance

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")

PAIRS = [
    ("A dog runs over the grass.", "An animal is moving across a lawn."),
    ("The train is late again.", "Once more we wait on the platform."),
    ("She paid by card.", "No cash was used for the purchase."),
    ("It rained all night.", "The streets were wet in the morning."),
]
ADAPTER = 'adapter paraphrases for "minilm.specc" {\n  lora(rank: 4, alpha: 8, dropout: 0.05, targets: [attention.q, attention.v, ffn])\n}\n'
STEPS = 12


def loaded(file: Path):
    found = spec_from_file_location(f"generated_{file.stem}", file)
    module = module_from_spec(found)
    import sys

    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


def test_trained_saved_merged_and_run(tmp_path: Path):
    from tokenizers import Tokenizer

    base = minilm(tmp_path / "base")
    assert main(["import", str(base), "-o", str(tmp_path / "minilm.specc")]) == 0
    (tmp_path / "a.specc").write_text(ADAPTER)
    assert main(["build", str(tmp_path / "a.specc"), "--to", "torch", "-o", str(tmp_path)]) == 0
    torch.manual_seed(0)
    model = loaded(tmp_path / "minilm.py").Model.from_checkpoint(base)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    adapter = loaded(tmp_path / "paraphrases.py").Adapter(model)

    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch([text for side in zip(*PAIRS, strict=True) for text in side])
    ids, mask = (torch.tensor([getattr(e, name) for e in encoded]) for name in ("ids", "attention_mask"))

    def loss() -> torch.Tensor:
        """Each text must be nearer to its paraphrase than to those of the others."""
        hidden = model(ids, attention_mask=mask).last_hidden_state
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        first, second = torch.nn.functional.normalize(mean, dim=-1).chunk(2)
        return torch.nn.functional.cross_entropy(10 * first @ second.T, torch.arange(len(PAIRS)))

    model.eval()
    with torch.no_grad():
        at_first = float(loss())
    model.train()
    optimizer = torch.optim.AdamW(adapter.trainable_parameters(), lr=3e-3)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        at_last = float(loss())
        want = model(ids, attention_mask=mask).last_hidden_state.numpy()
    assert at_last < 0.5 * at_first
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert all(bool(p.abs().sum() > 0) for p in adapter.parameters()), "every part of the adapter was trained"

    adapter.save(tmp_path / "trained")
    real = mask.bool().numpy()
    for how in (["--merge"], []):
        out = tmp_path / ("merged" if how else "apart")
        given = ["--weights", str(base), "--adapter-weights", str(tmp_path / "trained"), *how]
        assert main(["build", str(tmp_path / "a.specc"), "--to", "onnx", "-o", str(out), *given]) == 0
        options, run = onnxruntime.SessionOptions(), None
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(out / "model.onnx"), options, providers=["CPUExecutionProvider"])
        if not how:
            held = onnxruntime.LoraAdapter()
            held.Load(str(out / "paraphrases.onnx_adapter"))
            run = onnxruntime.RunOptions()
            run.add_active_adapter(held)
        feeds = {"input_ids": ids.numpy(), "attention_mask": mask.numpy(), "token_type_ids": np.zeros_like(ids.numpy())}
        (got,) = session.run(["last_hidden_state"], feeds, run)
        assert distance(got[real], want[real]) < TOLERANCE["float32"]
