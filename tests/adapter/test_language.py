"""What an adapter section says, and what it is told when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.diagnostics.finding import Report, SpecError
from specc.resolve.adapter import resolve_adapter
from specc.resolve.program import load
from tests.adapter.models import MOE, TINY


def read(folder: Path, body: str, model: str = TINY, target: str = '"m.specc"'):
    (folder / "m.specc").write_text(model, "utf-8")
    (folder / "a.specc").write_text(f"adapter a for {target} {{\n{body}\n}}\n", "utf-8")
    program = load(folder / "a.specc")
    return resolve_adapter(program.adapters["a"], program, Report()).adapter


def wrong(folder: Path, body: str, model: str = TINY, target: str = '"m.specc"'):
    with pytest.raises(SpecError) as raised:
        read(folder, body, model, target)
    return raised.value.diagnostics[0]


def held(folder: Path, body: str, model: str = TINY) -> dict[str, tuple[int, ...]]:
    return {name: p.shape for name, p in read(folder, body, model).parameters().items()}


def test_roles_and_patterns(tmp_path: Path):
    found = held(tmp_path, 'lora(rank: 3, targets: [attention.q, "layers.1.ffn.*"])')
    sites = {name.removesuffix(".lora.a") for name in found if name.endswith(".a")}
    assert sites == {"layers.0.attention.q", "layers.1.attention.q", "layers.1.ffn.gate", "layers.1.ffn.up", "layers.1.ffn.down"}
    assert found["layers.0.attention.q.lora.a"] == (3, 32)
    assert found["layers.0.attention.q.lora.b"] == (64, 3)


def test_the_beginning_of_a_role_stands_for_all_of_it(tmp_path: Path):
    found = held(tmp_path, "lora(rank: 2, targets: [attention], layers: [1])")
    assert {name.rpartition(".lora")[0] for name in found} == {f"layers.1.attention.{role}" for role in "qkvo"}


def test_fused_maps_share_their_first_factor(tmp_path: Path):
    found = held(tmp_path, "lora(rank: 2, targets: [fused(attention.q, attention.v)], layers: [0])")
    assert found == {"layers.0.attention.q+v.lora.a": (2, 32), "layers.0.attention.q+v.lora.b": (64 + 32, 2)}


def test_a_table_and_the_experts(tmp_path: Path):
    assert held(tmp_path, "lora(rank: 2, targets: [embed.tokens])") == {"embed_tokens.lora.a": (2, 61), "embed_tokens.lora.b": (32, 2)}
    found = held(tmp_path, "lora(rank: 2, targets: [ffn.experts.up])", MOE)
    assert len(found) == 2 * 2 * 4 and found["layers.1.ffn.experts.3.up.lora.b"] == (48, 2)


def test_a_list_may_have_a_name(tmp_path: Path):
    assert len(held(tmp_path, "r = 2  both = [attention.q, attention.v]\nlora(rank: 2 * r, targets: both)")) == 8



@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        ("lora(rank: 2, targets: [attention.qq])", "ADP004", "has no linear map or table `attention.qq`"),
        ('lora(rank: 2, targets: ["layers.7.*"])', "ADP004", "`layers.7.*`"),
        ("lora(rank: 2, targets: [fused(attention.q, ffn.up)])", "ADP004", "side by side"),
        ("lora(rank: 2, targets: [head])", "ADP004", "no linear map or table `head`"),
        ("lora(rank: 2, targets: [attention.q], layers: [2])", "ADP004", "no layer 2"),
        ("lora(rank: 2, targets: [])", "ADP002", "a list such as"),
        ("lora(rank: 2)", "VAL002", "needs `targets:`"),
        ("lora(rank: 0, targets: [attention.q])", "VAL001", "greater than 0"),
        ("lora(rank: 2, target: [attention.q])", "NAM002", "no field `target`"),
        ("lorra(rank: 2, targets: [attention.q])", "NAM001", "called `lorra`"),
        ("lora(rank: 2, targets: [attention.q]) lora(rank: 4, targets: [attention])", "ADP005", "layers.0.attention.q"),
        ("lora(rank: 2, dora: true, targets: [embed.tokens])", "ADP006", "embed_tokens"),
        ("rank = 2", "ADP001", "holds no method"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, body: str, code: str, text: str):
    found = wrong(tmp_path, body)
    assert found.code == code and text in found.message


def test_the_model_must_be_clear(tmp_path: Path):
    both = TINY + TINY.replace("model tiny", "model other")
    assert wrong(tmp_path, "lora(rank: 2, targets: [attention.q])", both).code == "ADP003"
    assert wrong(tmp_path, "lora(rank: 2, targets: [attention.q])", both, target="tiny").code == "NAM008", "the file is not used"
    (tmp_path / "b.specc").write_text('use "m.specc"\nadapter a for other { lora(rank: 2, targets: [attention.q]) }\n', "utf-8")
    program = load(tmp_path / "b.specc")
    assert resolve_adapter(program.adapters["a"], program, Report()).adapter.base.name == "other"


def test_many_targets_over_many_experts_end_soon(tmp_path: Path):
    """Each target is held against every place: what that may cost is bounded."""
    from specc.resources import SPECS

    targets = ", ".join('"layers.3.ffn.experts.*.up"' for _ in range(900))
    found = wrong(tmp_path, f"lora(rank: 2, targets: [{targets}])", target=f'"{SPECS / "models" / "deepseek_v3.specc"}"')
    assert found.code == "LIM013"
