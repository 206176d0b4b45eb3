"""Small models with random weights, made by transformers, imported, built and given a tokenizer: one folder per kind."""

from __future__ import annotations

import atexit
import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from specc.backends.onnx.write import write
from specc.faces.loading import one_model
from specc.tools.importer.run import import_model

VOCAB, CONTEXT = 320, 48
_CAUSAL = {"vocab_size": VOCAB, "bos_token_id": 300, "eos_token_id": 301}
_LLAMA = _CAUSAL | {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
}  # fmt: skip
_GPT2 = _CAUSAL | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": CONTEXT}
_BERT = {
    "vocab_size": VOCAB, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": CONTEXT,
}  # fmt: skip
LABELS = {"id2label": {0: "cold", 1: "mild", 2: "hot"}, "label2id": {"cold": 0, "mild": 1, "hot": 2}}
KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", _LLAMA),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", _GPT2),
    "bert": ("BertModel", "BertConfig", _BERT),
    "masked": ("BertForMaskedLM", "BertConfig", _BERT),
    "sequences": ("BertForSequenceClassification", "BertConfig", _BERT | LABELS),
    "tokens": ("BertForTokenClassification", "BertConfig", _BERT | LABELS),
}
_FOLDER = tempfile.TemporaryDirectory(prefix="specc-runtime-")
atexit.register(_FOLDER.cleanup)


@cache
def reference(kind: str) -> Any:
    """The transformers model, every parameter moved away from the values it starts with."""
    import torch
    import transformers

    torch.manual_seed(3)
    name, config, sizes = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(transformers, name)(getattr(transformers, config)(**sizes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    return model


@cache
def checkpoint(kind: str) -> Path:
    folder = Path(_FOLDER.name) / f"{kind}-checkpoint"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference(kind).save_pretrained(folder)
    _bytes(folder) if kind in ("llama", "gpt2") else _words(folder)
    return folder


@cache
def spec(kind: str) -> Path:
    path = Path(_FOLDER.name) / f"{kind}.specc"
    # transformers writes this field for every model; without a head over the vocabulary nothing is tied
    path.write_text(import_model(checkpoint(kind), kind, frozenset({"tie_word_embeddings"})).text, "utf-8")
    return path


@cache
def built(kind: str) -> Path:
    """A folder with model.onnx and all that belongs to it. Tests that change something copy it."""
    folder = Path(_FOLDER.name) / kind
    write(one_model(str(spec(kind))).model, folder, checkpoint(kind), "copy")
    return folder


def _bytes(folder: Path) -> None:
    """Every byte a token: ids 0 to 255."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))


def _words(folder: Path) -> None:
    """A few words between [CLS] and [SEP]. The file asks for padding and cutting, as published ones do."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "a", "mat"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(words[:5])
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.enable_padding(length=16)
    tokenizer.enable_truncation(16)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"mask_token": "[MASK]"}))
