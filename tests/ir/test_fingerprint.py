"""What changes an architecture's fingerprint, and what does not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from specc.components.norm.rms import RMSNorm
from specc.diagnostics import Report
from specc.faces.cli import main
from specc.ir.fingerprint import fingerprint
from specc.ir.model import Embedding, Instance, Layer, Model, Stack
from specc.ir.node import Component, Dims, training
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.source import Source

TEXT = """\
block own(x) {
  final_norm = norm
  h = norm.shared(x)
  x = x + attention(h)
  x = x + 0.5 * ffn(h)
}

model m {
  vocab     = 64
  dim       = 16
  depth     = 4
  context   = 32
  embed     = tokens(scale: 4.0)
  position  = rope(theta: 10_000)
  norm      = rms(eps: 1e-5)
  attention = attention(heads: 2, kv_heads: 1)
  ffn       = gated(hidden: 32, activation: silu)
  block     = own
  head      = lm(tied: false)
  layer near { mask = sliding(4) }
  layer far  { mask = causal }
  layers    = repeat [near, far]
}
"""


def model_of(text: str) -> Model:
    program = load_source(Source("m.specc", text), Path("m.specc"))
    return resolve(program.models[program.own[-1]], program, Report()).model


def changed(*changes: tuple[str, str]) -> str:
    text = TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return fingerprint(model_of(text))


SAME = {
    "comments": [("model m {", "# a comment\n## a doc\nmodel m { # another")],
    "blanks": [("\n", " \n\n")],
    "order of fields": [("  vocab     = 64\n", ""), ("  head ", "  vocab = 64\n  head ")],
    "order of arguments": [("heads: 2, kv_heads: 1", "kv_heads: 1, heads: 2")],
    "spelling of numbers": [("10_000", "1e4"), ("1e-5", "0.00001"), ("4.0", "4")],
    "computed numbers": [("hidden: 32", "hidden: 2 * dim"), ("4.0", "sqrt(dim)"), ("kv_heads: 1", "kv_heads: heads // 2")],
    "name of the model": [("model m {", "model another {")],
    "name of the block": [("block own", "block other"), ("= own", "= other")],
    "names of layers": [("near", "close"), ("far", "wide")],
    "names of local values": [("h = ", "y = "), ("(h)", "(y)"), ("(x) {", "(x) {\n  unused = norm.shared(x)")],
    "a value without a name": [
        ("  h = norm.shared(x)\n", ""),
        ("(h)", "(norm.shared(x))"),
        ("  x = x + attention", "  y = x + attention"),
        ("  x = x + 0.5 * ffn(norm.shared(x))", "  x = y + 0.5 * ffn(norm.shared(x))"),
    ],
    "layers spelt out": [("repeat [near, far]", "[near, far, near, far]")],
    "a layer of the same fields": [
        ("  layers    = repeat [near, far]", "  layer also { mask = causal }\n  layers = [near, also, near, far]")
    ],
    "a name for a part": [("rms(eps: 1e-5)", "usual\n  usual = rms(eps: 1e-5)")],
    "a default that is stated": [
        ("eps: 1e-5", "eps: 1e-5, offset: 0"),
        ("theta: 10_000", "theta: 10_000, layout: half"),
        ("tied: false", "tied: false, softcap: none"),
    ],
    "training": [("  block     =", "  dropout = 0.1\n  attention_dropout = 0.2\n  block     =")],
    "checks and weights": [("  layers ", '  checks { depth == 4 }\n  weights hf { embed.tokens = "wte" }\n  layers ')],
}

OTHER = {
    "theta": [("10_000", "10_001")],
    "eps": [("1e-5", "1.1e-5")],
    "offset": [("eps: 1e-5", "eps: 1e-5, offset: 1")],
    "mask": [("sliding(4)", "sliding(5)")],
    "order of layers": [("[near, far]", "[far, near]")],
    "depth": [("= 4\n", "= 6\n")],
    "vocab": [("vocab     = 64", "vocab     = 65")],
    "context": [("context   = 32", "context   = 33")],
    "embedding scale": [("4.0", "4.5")],
    "embedding formula": [("tokens(scale: 4.0)", "2 * tokens(scale: 4.0)")],
    "heads": [("heads: 2, kv_heads: 1", "heads: 2, kv_heads: 2")],
    "bias": [("kv_heads: 1", "kv_heads: 1, bias: [q]")],
    "activation": [("silu", "gelu")],
    "kind of norm": [("rms(eps", "layer(eps")],
    "kind of feed-forward": [("gated(", "mlp(")],
    "position": [("rope(theta: 10_000)", "none")],
    "one layer's position": [("mask = sliding(4)", "mask = sliding(4)  position = none")],
    "branch factor": [("0.5 *", "0.25 *")],
    "wiring": [("0.5 * ffn(h)", "0.5 * ffn(norm.second(x))")],
    "order of a sum": [("x = x + attention(h)", "x = attention(h) + x")],
    "final norm": [("  final_norm = norm\n", "  final_norm = none\n")],
    "head": [("lm(tied: false)", "lm(tied: true)")],
    "soft cap": [("tied: false", "tied: false, softcap: 30")],
}


@pytest.mark.parametrize("changes", SAME.values(), ids=SAME)
def test_what_leaves_it(changes: list[tuple[str, str]]) -> None:
    assert changed(*changes) == fingerprint(model_of(TEXT))


def test_what_changes_it() -> None:
    found = {name: changed(*changes) for name, changes in OTHER.items()}
    assert len({*found.values(), fingerprint(model_of(TEXT))}) == len(OTHER) + 1


class WithMore(RMSNorm):
    """A norm of a later release: a field that only training uses, and one that is neutral by default."""

    axis: ClassVar[str] = "norm"
    kind: Literal["rms"] = "rms"
    noise: float = training(0.0)
    twist: float = 0.0


def with_final_norm(norm: Component) -> str:
    model = model_of(TEXT)
    return fingerprint(model.replaced(stacks=(model.stack.replaced(final_norm=norm),)))


def test_a_neutral_field_that_a_release_adds_leaves_it() -> None:
    old = with_final_norm(RMSNorm(eps=1e-5))
    assert with_final_norm(WithMore(eps=1e-5)) == old
    assert with_final_norm(WithMore(eps=1e-5, noise=0.1)) == old
    assert with_final_norm(WithMore(eps=1e-5, twist=0.1)) != old


def test_every_field_of_the_model_is_looked_at_or_left_out_on_purpose() -> None:
    """A field added to one of these nodes has to find its place in specc.ir.fingerprint."""
    assert set(Model.model_fields) == {"schema_version", "name", "doc", "stacks", "heads", "shared_tokens", "weights", "training"}
    assert set(Stack.model_fields) == {"name", "dims", "embedding", "layers", "sets", "final_norm"}
    assert set(Layer.model_fields) == {"label", "kv_from", "position", "mask", "block", "instances"}
    assert set(Embedding.model_fields) == {"value", "instances"}
    assert set(Instance.model_fields) == {"path", "component", "width", "memory", "shared"}
    assert all(field.is_required() or field.default in (None, 0) for field in Dims.model_fields.values())


def test_it_does_not_depend_on_objects_being_shared() -> None:
    model = model_of(TEXT)
    assert fingerprint(Model.model_validate_json(model.model_dump_json())) == fingerprint(model)


def test_the_known_one() -> None:
    """The promise itself: what was printed once is printed for ever."""
    assert fingerprint(model_of(TEXT)) == "feef5733f7c30f7b67bdfd96bf37f9812fb3cedb2cb693995d3fdfd533bf7998"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.specc").write_text(TEXT)
    assert main(["ir", "--fingerprint", str(tmp_path / "m.specc")]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed == fingerprint(model_of(TEXT))
    assert len(printed) == hashlib.sha256().digest_size * 2
    assert main(["ir", "--fingerprint", "--format", "json", str(tmp_path / "m.specc")]) == 0
    assert json.loads(capsys.readouterr().out) == {"model": "m", "fingerprint": printed}


def test_layers_that_share_weights_are_another_architecture() -> None:
    own, shared = (model_of(TEXT.replace("repeat [near, far]", f"repeat [{near}, far]")) for near in ("near", "same(near)"))
    assert fingerprint(shared) != fingerprint(own)
    assert len(shared.parameters()) < len(own.parameters())
    once = model_of(TEXT.replace("repeat [near, far]", "[same(near), near, 2 * far]"))
    assert fingerprint(once) == fingerprint(model_of(TEXT.replace("repeat [near, far]", "[2 * near, 2 * far]")))
