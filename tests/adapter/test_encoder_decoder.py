"""Adapters over an encoder and a decoder: T5, against peft."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from specc.backends.onnx.write import Laid, write
from specc.backends.torch.adapter.emit import emit_adapter
from specc.backends.torch.emit import emit
from specc.ir.adapter import stays
from specc.tools.importer.adapter.run import import_adapter
from specc.tools.importer.run import import_model
from specc.tools.tolerance import TOLERANCE, VISIBLE, distance
from specc.weights.adapter.held import open_adapter
from tests.adapter.published import IDS, VOCAB, opened_as, perturb, python, resolved

peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")
T5 = {
    "vocab_size": VOCAB, "d_model": 32, "d_kv": 16, "d_ff": 48, "num_layers": 3, "num_decoder_layers": 3, "num_heads": 4, "pad_token_id": 0,
    "eos_token_id": 1, "decoder_start_token_id": 0,
}  # fmt: skip
CASES = {
    "lora": (
        lambda: peft.LoraConfig(r=4, lora_alpha=6, target_modules=["q", "v", "wi"]),
        "lora(rank: 4, alpha: 6, targets: [attention.q, attention.v, cross.q, cross.v, ffn.up])",
    ),
    "dora": (
        lambda: peft.LoraConfig(r=4, lora_alpha=6, use_dora=True, target_modules=r"decoder.*(EncDecAttention\.k|SelfAttention\.o)"),
        "lora(rank: 4, alpha: 6, dora: true, targets: [decoder.cross.k, decoder.attention.o])",
    ),
    "ia3": (
        lambda: peft.IA3Config(target_modules=["k", "v", "wo"], feedforward_modules=["wo"]),
        "ia3(after: [attention.k, attention.v, cross.k, cross.v], before: [ffn.down])",
    ),
    "prefix": (lambda: peft.PrefixTuningConfig(task_type="SEQ_2_SEQ_LM", num_virtual_tokens=3, token_dim=64, num_attention_heads=4), "prefix(length: 3)"),
    "prompt": (lambda: peft.PromptTuningConfig(task_type="SEQ_2_SEQ_LM", num_virtual_tokens=3), "prompt(length: 3)"),
}
MASK = (IDS != 0).long().flip(1)
SOURCE, TARGET = IDS.flip(1), torch.tensor([[0, 7, 5, 11, 2], [0, 13, 40, 3, 9]])


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder, (config, body) = tmp_path_factory.mktemp("t5"), CASES[request.param]
    torch.manual_seed(0)
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**T5)).eval()
    perturb(model.parameters(), 0.05)
    model.save_pretrained(folder / "base")
    (folder / "base.specc").write_text(import_model(folder / "base", "base").text, "utf-8")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        adapted = peft.get_peft_model(model, config())
        perturb(p for p in adapted.parameters() if p.requires_grad)
        adapted.eval().save_pretrained(folder / "adapter")
        want = adapted(input_ids=SOURCE, attention_mask=MASK, decoder_input_ids=TARGET).logits.numpy()
    (folder / "bot.specc").write_text(f'adapter bot for "base.specc" {{\n  {body}\n}}\n', "utf-8")
    return folder, resolved(folder / "bot.specc").adapter, want


def test_in_pytorch(case):
    folder, adapter, want = case
    model = python(emit(adapter.base), "generated_base").Model.from_checkpoint(folder / "base").eval()

    def logits() -> np.ndarray:
        with torch.no_grad():
            return model(input_ids=SOURCE, attention_mask=MASK, decoder_input_ids=TARGET).logits.numpy()

    before = logits()
    over = python(emit_adapter(adapter), "generated_adapter").Adapter(model)
    over.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in open_adapter(folder / "adapter", adapter).items()})
    assert distance(logits(), want) <= TOLERANCE["float32"]
    assert distance(before, want) > VISIBLE * TOLERANCE["float32"]
    with torch.no_grad():
        begun = model(input_ids=SOURCE, attention_mask=MASK, decoder_input_ids=TARGET[:, :3])
        rest = model(attention_mask=MASK, decoder_input_ids=TARGET[:, 3:], cache=begun.cache).logits
    assert distance(np.concatenate([begun.logits, rest], axis=1), want) <= TOLERANCE["float32"]
    if stays(adapter) is None:
        over.merge()
        assert distance(logits(), want) <= TOLERANCE["float32"]
        over.unmerge()
    over.enabled = False
    assert np.array_equal(logits(), before)


@pytest.mark.parametrize("merging", [False, True], ids=["apart", "merged"])
def test_in_onnx(case, merging: bool):
    folder, adapter, want = case
    if merging and stays(adapter) is not None:
        merging = False  # refused: tests/adapter/test_against_peft.py
    out = folder / f"out-{merging}"
    write(adapter.base, out, folder / "base", over=Laid(adapter, open_adapter(folder / "adapter", adapter), merging))
    encoder, decoder = (opened_as(out, part, None if merging else "bot") for part in ("encoder", "decoder"))
    (hidden,) = encoder(["last_hidden_state"], {"input_ids": SOURCE.numpy(), "attention_mask": MASK.numpy()})
    feeds = {"input_ids": TARGET.numpy(), "encoder_hidden_states": hidden, "encoder_attention_mask": MASK.numpy()}
    (got,) = decoder(["logits"], feeds)
    assert distance(got, want) <= TOLERANCE["float32"]


def test_an_import_says_the_same(case):
    folder, adapter, _ = case
    imported = import_adapter(folder / "adapter", folder / "base.specc", adapter.base, folder / "i.specc", "i")
    (folder / "i.specc").write_text(imported.text, "utf-8")
    assert resolved(folder / "i.specc", "i").adapter.parameters() == adapter.parameters()
