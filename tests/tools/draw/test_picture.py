"""What the picture shows is what the model is."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from specc.components.mask.causal import Causal
from specc.components.mask.chunked import Chunked
from specc.components.mask.documents import Documents
from specc.components.mask.prefix import Prefix
from specc.components.mask.sliding import Sliding
from specc.components.mask.window import Window
from specc.components.registry import load, members
from specc.diagnostics.table.example import layers, spec
from specc.ir.model import Model
from specc.tools.draw.flow import Flow, of_block, of_formula
from specc.tools.draw.folded import Group, Run, folded, kinds
from specc.tools.draw.image import svg
from specc.tools.draw.masks import SIDE, picture
from tests.tools.draw.models import families, published, written

NAMES = ("gemma2_9b", "deepseek_v3", "bert_base_mlm", "phi_2", "gpt_oss_20b", "gemma3_1b", "olmo2_7b", "bloom_560m")


def models() -> list[Model]:
    return [*map(published, NAMES), *families().values()]


def flows(model: Model) -> list[Flow]:
    found = []
    for stack in model.stacks:
        found.append(of_formula(stack.embedding.value, stack.embedding.instances))
        found += [of_block(k.layer.block.inputs, k.layer.block.body, k.layer.instances) for k in kinds(stack)]
    return found


def test_no_box_and_no_line_crosses_another():
    for model in models():
        for flow in flows(model):
            places = {(node.row, node.col) for node in flow.nodes}
            assert len(places) == len(flow.nodes) and min(node.col for node in flow.nodes) == 0
            for node in flow.nodes:
                for source, _ in node.sources:
                    assert source.row < node.row, model.name
                    between = {(row, source.col) for row in range(source.row + 1, node.row)}
                    across = {(node.row, col) for col in range(min(node.col, source.col) + 1, max(node.col, source.col))}
                    led_across = node.kind in ("add", "join")  # into the side; else above the row, where no box is
                    assert not places & (between | (across if led_across else set())), model.name


def test_residual_streams_run_straight_down():
    (flow,) = flows(published("phi_2"))[1:]
    assert [(n.text, n.row, n.col) for n in flow.nodes] == [
        ("x", 0, 0), ("norm.shared", 1, 1), ("attention", 2, 1), ("ffn", 2, 2), ("+", 3, 0),
    ]  # fmt: skip
    post = flows(published("bert_base_mlm"))[1]
    assert [n.text for n in post.nodes if n.col == 0] == ["x", "+", "norm.attention", "+", "norm.ffn"]
    assert [n.text for n in post.nodes if n.col == 1] == ["attention", "ffn"]


def test_factors_stand_on_their_edges():
    model = written(spec(block="half") + "block half(x) {\n  final_norm = norm\n  x = x + 0.5 * ffn(norm.ffn(attention(x)))\n}\n")
    flow = flows(model)[1]
    assert [[note for _, note in node.sources] for node in flow.nodes if node.kind == "add"] == [["", "× 0.5"]]


def test_layers_are_folded_and_none_is_lost():
    for model in models():
        for stack in model.stacks:
            spread = [run.label for group in folded(stack) for _ in range(group.times) for run in group.runs for _ in range(run.count)]
            assert spread == [layer.label for layer in stack.layers], model.name
    assert folded(published("gemma2_9b").stack) == [Group((Run("local", 1), Run("global", 1)), 21)]
    assert folded(published("deepseek_v3").stack) == [Group((Run("dense", 3), Run("sparse", 58)), 1)]
    assert folded(published("gemma3_1b").stack) == [Group((Run("local", 5), Run("global", 1)), 4), Group((Run("local", 2),), 1)]


def test_a_kind_tells_whether_its_numbers_vary():
    same, other = (written(spec(attention=f"attention(heads: 2, scale: {scale})")).stack for scale in ("0.5", "0.5 / (layer.index + 1)"))
    assert [kind.varies for kind in kinds(same) + kinds(other)] == [False, True]


def test_masks_are_drawn_as_they_are_defined():
    def rows(mask, context=SIDE):
        return picture(mask, context).rows

    side = range(SIDE)
    assert rows(Causal()) == tuple(tuple(k <= q for k in side) for q in side)
    assert rows(Sliding(window=8, keep_first=2)) == tuple(tuple(k <= q and (q - k < 8 or k < 2) for k in side) for q in side)
    assert rows(Chunked(size=8)) == tuple(tuple(k <= q and q // 8 == k // 8 for k in side) for q in side)
    assert rows(Window(left=9, right=9)) == tuple(tuple(-9 <= k - q <= 9 for k in side) for q in side)
    assert rows(Prefix()) == tuple(tuple(k <= q or k < SIDE // 4 for k in side) for q in side)
    packed = rows(Documents(inner=Causal()))
    assert all(packed[q][q] for q in side) and not packed[SIDE - 1][0] and packed[3][0] and not packed[0][3]


def test_masks_are_drawn_to_scale():
    half = picture(Sliding(window=4096), 8192)
    assert half.tokens == 8192 and sum(half.rows[-1]) == SIDE // 2
    narrow = picture(Sliding(window=512), 131_072)
    assert narrow.tokens == 4 * 512 and sum(narrow.rows[-1]) == SIDE // 4


def test_every_kind_of_mask_can_be_drawn():
    for kind in members("mask"):
        cls = load("mask", kind)
        given = {name: 16 for name, field in cls.model_fields.items() if field.annotation is int}
        given |= {name: Causal() for name in cls.model_fields if name == "inner"}
        assert picture(cls(**given), 128) is not None, kind


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_names_every_sublayer_and_shape(name: str):
    model = published(name)
    root = ElementTree.fromstring(svg(model))
    texts = {"".join(found.itertext()) for found in root.iter("{http://www.w3.org/2000/svg}text")}
    for layer in model.stack.distinct:
        assert {instance.path for instance in layer.instances} <= texts
        assert layer.label in texts
    assert f"[B, T, {model.stack.dims.dim}]" in texts
    titles = "\n".join("".join(found.itertext()) for found in root.iter("{http://www.w3.org/2000/svg}title"))
    for layer in model.stack.distinct:
        for instance in layer.instances:
            for parameter in instance.parameters(model.stack.dims)[:40]:
                assert f"{parameter.name} [{', '.join(map(str, parameter.shape))}]" in titles


def test_two_stacks_and_images_are_drawn():
    t5 = svg(families()["t5"])
    assert "encoder: input_ids [B, T]" in t5 and "memory [B, M, 64], to the decoder" in t5 and ">cross<" in t5
    assert "pixel_values [B, 3, " in svg(families()["vit"])


def test_a_drawing_is_the_same_every_time_and_for_many_kinds():
    sections = [f"layer l{n} {{ mask = sliding({n + 1}) }}" for n in range(9)]
    model = written(layers(*sections, layers=f"[{', '.join(f'l{n}' for n in range(9))}]", depth="9"))
    assert svg(model) == svg(model) and svg(model).count('class="card"') == 9
