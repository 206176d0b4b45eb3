"""The sections `encoder` and `decoder`: what each stack takes from the model, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.ir.fingerprint import fingerprint
from specc.ir.model import Model
from specc.tools.analyse import Costs
from tests.diagnostics.checked import findings
from tests.harness import model_of

HEAD = """model m {{
  vocab = 64   dim = 16   context = 32
  norm      = rms(eps: 1e-5)
  attention = attention(heads: 2)
  ffn       = mlp(hidden: 4 * dim, activation: gelu)
  head      = lm(tied: true)
{body}
}}
"""
ENCODER = "encoder { depth = 3  mask = bidirectional  block = pre_norm }"
DECODER = "decoder { depth = 2  mask = causal  block = pre_norm_cross  cross = attention }"


def text(*body: str) -> str:
    return HEAD.format(body="\n".join(body))


def made(*body: str) -> Model:
    return model_of(text(*body))


def test_each_section_goes_over_the_model() -> None:
    model = made(ENCODER.replace("}", "ffn = mlp(hidden: 24, activation: relu) }"), DECODER)
    encoder, decoder = model.stacks
    assert (encoder.name, len(encoder.layers), decoder.name, len(decoder.layers)) == ("encoder", 3, "decoder", 2)
    assert [stack.layers[0].instance("ffn").component.hidden for stack in model.stacks] == [24, 64]
    assert [layer.mask.kind for layer in (*encoder.distinct, *decoder.distinct)] == ["bidirectional", "causal"]


def test_an_override_reaches_what_the_model_says_with_it() -> None:
    """`ffn` is the model's and mentions `dim`; a narrower encoder has a narrower one."""
    model = made(ENCODER.replace("depth", "dim = 8  depth"), DECODER, "shared_tokens = false")
    assert [stack.layers[0].instance("ffn").component.hidden for stack in model.stacks] == [32, 64]
    shapes = {name: p.shape for name, p in model.parameters().items()}
    assert shapes["decoder.layers.0.cross.k.weight"] == (16, 8)
    assert shapes["decoder.layers.0.cross.q.weight"] == (16, 16)


def test_the_keys_and_the_shared_table() -> None:
    keys = list(made(ENCODER, DECODER).parameters())
    assert keys[0] == "embed_tokens.weight"
    assert "encoder.layers.2.attention.q.weight" in keys
    assert {"decoder.layers.1.cross.k.weight", "decoder.layers.1.cross_norm.weight", "encoder.final_norm.weight"} <= set(keys)
    assert [key for key in keys if "embed" in key] == ["embed_tokens.weight"]
    apart = made(ENCODER, DECODER, "shared_tokens = false").parameters()
    assert [key for key in apart if "embed" in key] == ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"]


def test_costs() -> None:
    model = made(ENCODER, DECODER)
    costs, sizes = Costs(model), {name: p.size for name, p in model.parameters().items()}
    assert costs.parameters == sum(sizes.values()) == costs.stored
    assert costs.kv_cache(5, "fp32") == 4 * 2 * (2 * 2 * 16) * 5  # of two layers, keys and values, own and the encoder's
    matrices = sum(size for name, size in sizes.items() if "norm" not in name)
    assert costs.flops(7) == 2 * matrices + 4 * 16 * 7 * (3 + 2 + 2)  # the encoder's attentions, the decoder's, and across
    assert costs.forward(7) == 7 * 2 * matrices + 4 * 16 * (3 * 49 + 2 * 28 + 2 * 49)


def test_the_fingerprint_tells_the_stacks_apart() -> None:
    texts = [(ENCODER, DECODER), (ENCODER.replace("3", "2"), DECODER), (ENCODER, DECODER, "shared_tokens = false")]
    assert len({fingerprint(made(*body)) for body in texts}) == len(texts)
    assert fingerprint(made(ENCODER, DECODER)) == fingerprint(made(DECODER, ENCODER, "shared_tokens = true"))


def test_layers_of_one_stack() -> None:
    near = "layer near { mask = sliding(4) } layer far { mask = causal } layers = [near, far] }"
    model = made(ENCODER, DECODER.replace("mask = causal", "").replace("}", near))
    assert [[layer.label for layer in stack.layers] for stack in model.stacks] == [["layer"] * 3, ["near", "far"]]
    common = made("layer near { mask = sliding(4) } layer far { mask = causal }", ENCODER, DECODER.replace("mask = causal", "layers = [near, far]"))
    assert fingerprint(common) == fingerprint(model)


def test_a_model_that_extends_an_encoder_decoder() -> None:
    more = text(ENCODER, DECODER) + "model n extends m { encoder { depth = 1 } }\n"
    assert [len(stack.layers) for stack in model_of(more).stacks] == [1, 2]
    assert model_of(more).encoder.layers[0].mask.kind == "bidirectional"


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ((DECODER,), "VAL002", "none called `encoder`"),
        ((ENCODER,), "VAL002", "none called `decoder`"),
        ((ENCODER, DECODER.replace("causal", "bidirectional")), "CAP001", "sees later tokens"),
        ((ENCODER, DECODER.replace("_cross", "")), "LNT002", "the decoder sets `cross`"),
        ((ENCODER, "decoder { depth = 2  mask = causal  block = pre_norm }"), "VAL010", "nothing in the decoder reads"),
        ((ENCODER.replace("pre_norm", "pre_norm_cross"), DECODER, "cross = attention"), "TYP013", "takes 2 inputs"),
        ((ENCODER, DECODER.replace("cross = attention", "")), "NAM011", "no field `cross`"),
        ((ENCODER.replace("}", "head = hidden }"), DECODER), "NAM010", "`head` belongs to the model"),
        ((ENCODER.replace("}", "checks { depth == 3 } }"), DECODER), "NAM006", "fields and layers only"),
        ((ENCODER.replace("}", "chunk = 3 }"), DECODER), "LNT002", "the encoder sets `chunk`"),
        ((ENCODER, DECODER, "layer odd { mask = sliding(3) }"), "LNT003", "`odd` is never used"),
        ((ENCODER.replace("depth", "dim = 8  depth"), DECODER), "SHP005", "share one token table"),
        ((ENCODER, DECODER.replace("attention }", "attention(heads: 2, sinks: true) }")), "CAP001", "sinks"),
        ((ENCODER.replace("}", "embed = tokens() + segments(2) }"), DECODER), "CAP001", "token_type_ids"),
        ((ENCODER, DECODER.replace("pre_norm_cross", "blind"), "block blind(x, memory) { final_norm = norm  x = x + cross(x, memory) }"), "CAP001", "do not read one another"),
        ((ENCODER, DECODER, "shared_tokens = 3"), "TYP003", "a condition is true or false"),
    ],
)
def test_what_is_refused(body: tuple[str, ...], code: str, words: str, tmp_path: Path) -> None:
    found = findings(text(*body), tmp_path)
    assert [f.code for f in found] == [code]
    assert words in found[0].message


WIRING = """block odd(x, memory) {{
  final_norm = norm
  {line}
  x = x + cross(norm.cross(x), memory)
}}
"""


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("x = x + memory", "TYP013", "flows only into a call"),
        ("x = x + attention(memory)", "TYP013", "flows only into a call"),
        ("x = x + ffn(x, memory)", "TYP013", "`mlp`, which cannot read"),
        ("memory = norm.attention(x)", "NAM006", "no block binds again"),
        ("x = x + cross(x)", "TYP013", "with the encoder's output and without"),
    ],
)
def test_where_the_encoders_output_may_flow(line: str, code: str, words: str, tmp_path: Path) -> None:
    found = findings(WIRING.format(line=line) + text(ENCODER, DECODER.replace("pre_norm_cross", "odd")), tmp_path)
    assert [f.code for f in found] == [code]
    assert words in found[0].message


def test_one_stack_has_no_second_input(tmp_path: Path) -> None:
    found = findings(text("depth = 2 mask = causal block = pre_norm_cross cross = attention"), tmp_path)
    assert [f.code for f in found] == ["TYP013"]
    found = findings(text("depth = 2 mask = causal block = pre_norm shared_tokens = false"), tmp_path)
    assert [f.code for f in found] == ["NAM010"]
