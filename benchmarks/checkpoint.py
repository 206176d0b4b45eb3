"""Makes the checkpoint that the benchmarks compile and run: a Llama with random weights, and a small tokenizer.

    python benchmarks/checkpoint.py FOLDER [SCALE]

SCALE 2 doubles every width and the vocabulary: four times the bytes, and a graph of the same size.
"""

from __future__ import annotations

import sys
from pathlib import Path

LAYERS, WIDTH, HEADS, KV_HEADS, FFN, VOCAB, CONTEXT = 16, 512, 8, 4, 1536, 32000, 4096


def model(folder: Path, scale: int) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB * scale,
        hidden_size=WIDTH * scale,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS * scale,
        num_key_value_heads=KV_HEADS * scale,
        intermediate_size=FFN * scale,
        max_position_embeddings=CONTEXT,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def tokenizer(folder: Path) -> None:
    """onnxruntime-genai's builder wants one in the folder, whatever it holds."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({f"w{number}": number for number in range(100)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    named = {"unk_token": "w0", "bos_token": "w1", "eos_token": "w2", "pad_token": "w2"}
    PreTrainedTokenizerFast(tokenizer_object=words, **named).save_pretrained(folder)


def main() -> int:
    folder = Path(sys.argv[1])
    model(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    tokenizer(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
