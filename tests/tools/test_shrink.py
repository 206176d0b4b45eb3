"""The miniature keeps a model's kinds of layers, ratios and fields, and nothing of its size."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.faces.loading import one_model
from specc.ir.model import Model
from specc.resources import SPECS
from specc.tools.shrink import SMALL, miniature
from specc.tools.verify.inputs import pieces, proof_length
from specc.tools.verify.validity import problems
from tests.harness import model_of

FILES = sorted((SPECS / "models").glob("*.specc"), key=lambda path: path.name)


def text(**fields: object) -> str:
    """A large decoder with some fields set otherwise."""
    chosen = {
        "vocab": 50_000,
        "dim": 4096,
        "depth": 24,
        "context": 4096,
        "position": "rope(theta: 10_000)",
        "mask": "causal",
        "norm": "rms(eps: 1e-6)",
        "attention": "attention(heads: 32, kv_heads: 8)",
        "ffn": "gated(hidden: 11_008, activation: silu)",
        "block": "pre_norm",
        "head": "lm(tied: false)",
    } | fields
    return (
        "model large {\n"
        + "\n".join(f"{name} = {value}" for name, value in chosen.items() if not name.startswith("layer "))
        + "\n"
        + "\n".join(f"{name} {value}" for name, value in chosen.items() if name.startswith("layer "))
        + "\n}"
    )


def attention(model: Model, layer: int = 0):
    return model.stack.layers[layer].instance("attention").component


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_published_models(path: Path):
    model = one_model(str(path)).model
    small = miniature(model)
    prime = attention(model).heads % 2 and attention(model).heads > 25  # Falcon's 71 heads have no smaller form
    assert sum(p.size for p in small.parameters().values()) < (30_000_000 if prime else 8_000_000)
    assert not list(problems(small))
    assert {la.label for la in small.stack.layers} == {la.label for la in model.stack.layers}
    assert len(small.stack.layers) >= 2
    before, after = attention(model), attention(small)
    if hasattr(before, "kv_heads"):
        assert after.heads * before.kv_heads == after.kv_heads * before.heads
    assert (after.head_dim * after.heads == small.stack.dims.dim) == (before.head_dim * before.heads == model.stack.dims.dim)
    assert (after.scale == after.head_dim**-0.5) == (before.scale == before.head_dim**-0.5)
    assert _shape(small) == _shape(model)
    assert [[rule.own for rule in w.rules] for w in small.weights] == [[rule.own for rule in w.rules] for w in model.weights]


def _shape(model: Model) -> set[str]:
    """The parameters without the numbers of their layers."""
    return {".".join("i" if part.isdigit() else part for part in key.split(".")) for key in model.parameters()}


def test_a_small_model_is_its_own_miniature():
    model = model_of(text(vocab=100, dim=64, depth=3, attention="attention(heads: 4)", ffn="gated(hidden: 96, activation: silu)"))
    assert miniature(model) is model
    assert sum(p.size for p in model.parameters().values()) < SMALL


def test_a_small_model_with_a_wide_window_is_given_a_narrow_one():
    model = model_of(
        text(vocab=100, dim=64, depth=2, attention="attention(heads: 4)", ffn="gated(hidden: 96, activation: silu)", mask="sliding(1024)")
    )
    small = miniature(model)
    assert small.stack.layers[0].mask.window < proof_length(small)


def test_every_kind_of_layer_is_kept_in_order():
    layers = {
        "layer dense": "{ ffn = mlp(hidden: 16_384, activation: relu) }",
        "layer near": "{ mask = sliding(512) }",
        "layer far": "{ mask = sliding(2048) }",
    }
    small = miniature(model_of(text(layers="[3 * dense, repeat [5 * near, far]]", **layers)))
    assert [la.label for la in small.stack.layers] == ["dense", "near", "far"]
    near, far = small.stack.layers[1].mask.window, small.stack.layers[2].mask.window
    assert near < far < proof_length(small)


def test_a_scale_that_depends_on_the_layer_still_does():
    small = miniature(model_of(text(attention="attention(heads: 32, scale: 128 ** -0.5 / (layer.index + 1))")))
    scales = [attention(small, n).scale for n in range(len(small.stack.layers))]
    assert scales == pytest.approx([0.25, 0.125])


def test_other_scales():
    assert attention(miniature(model_of(text(attention="attention(heads: 32, scale: 1)")))).scale == 1
    assert attention(miniature(model_of(text(attention="attention(heads: 32, scale: 0.5 * 128 ** -0.5)")))).scale == pytest.approx(0.125)
    small = miniature(model_of(text(embed="tokens(scale: sqrt(dim))")))
    assert small.stack.embedding.instance("embed.tokens").component.scale == small.stack.dims.dim**0.5
    assert miniature(model_of(text(embed="tokens(scale: 12)"))).stack.embedding.instance("embed.tokens").component.scale == 12


def test_part_of_a_head_stays_part_of_it():
    small = miniature(model_of(text(position="rope(theta: 10_000, partial: 32)")))
    position, head_dim = small.stack.layers[0].position, attention(small).head_dim
    assert position.partial is not None and position.partial < head_dim and position.partial % 2 == 0


@pytest.mark.parametrize(("width", "head"), [(512, "lm(tied: true, width: 512)"), (8192, "lm(tied: true, width: 8192)")])
def test_a_table_of_another_width_keeps_another_width(width: int, head: str):
    model = model_of(text(embed=f"project(tokens(width: {width}))", head=head))
    small = miniature(model)
    tokens = small.stack.embedding.instance("embed.tokens").component
    assert not list(problems(small))
    assert (tokens.width < small.stack.dims.dim) == (width < 4096) and tokens.width != small.stack.dims.dim
    assert small.heads[0].component.width == tokens.width


def test_a_head_width_of_its_own_stays_so():
    small = miniature(model_of(text(attention="attention(heads: 32, kv_heads: 8, head_dim: 256)")))
    assert small.stack.dims.dim != attention(small).heads * attention(small).head_dim


@pytest.mark.parametrize(("heads", "kv_heads"), [(71, 1), (25, 25), (14, 2), (9, 3), (64, 8), (7, 7)])
def test_heads(heads: int, kv_heads: int):
    small = attention(miniature(model_of(text(dim=64 * heads, attention=f"attention(heads: {heads}, kv_heads: {kv_heads})"))))
    assert small.heads * kv_heads == small.kv_heads * heads
    assert small.kv_heads > 1 or kv_heads == 1


def test_groups_of_a_fused_tensor_follow_the_heads():
    weights = 'weights hf { layers[i].attention.qkv = fused("qkv.{i}", order: [q, k, v], groups: 32) }'
    model = model_of(text(attention="attention(heads: 32)").removesuffix("}") + weights + "}")
    small = miniature(model)
    assert small.weights[0].rules[0].source.groups == attention(small).heads


@pytest.mark.parametrize("length", [2, 9, 10, 16, 24, 40])
def test_pieces_cover_the_text(length: int):
    assert sum(pieces(length)) == length and len(pieces(length)) > 1 and min(pieces(length)) > 0


@pytest.mark.parametrize(
    "mask",
    ["window(64, 64)", "window(4096, 2)", "chunked(8192)", "sliding(4096, keep_first: 4)", "documents(sliding(4096))", "documents(prefix)"],
)
def test_a_mask_stays_what_it_is_and_shorter_than_the_proof(mask: str):
    model = model_of(text(mask=mask))
    small = miniature(model)
    before, after = model.stack.layers[0].mask, small.stack.layers[0].mask
    assert (after.kind, after.causal, list(small.inputs())) == (before.kind, before.causal, list(model.inputs()))
    assert (after.reach is None) == (before.reach is None)
    assert after.reach is None or after.reach < proof_length(small)
    if mask == "window(64, 64)":
        assert after.left == after.right
