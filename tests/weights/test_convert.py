"""Conversions are bit-exact both ways, whole or not at all; new weights repeat."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from specc.weights.arrays import load, narrowed, widened
from specc.weights.checkpoint import open_checkpoint
from specc.weights.convert import to_own, to_published
from specc.weights.init import init
from specc.weights.mapping import place
from specc.weights.own import own_layout
from specc.weights.safetensors import read_header
from tests.weights.files import Listed, checkpoint, fused, model_of, numbers, refused, save, tensor, transpose, weight_map

SPEC = """model m {
  vocab     = 12
  dim       = 8
  depth     = 2
  context   = 16
  position  = rope(theta: 10_000)
  mask      = causal
  norm      = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2, bias: true)
  ffn       = gated(hidden: 6, activation: silu)
  block     = pre_norm
  head      = lm(tied: false)
  weights hf {
    root = "t." | ""
    ignore = ["h.{i}.attn.bias"]
    embed.tokens = "wte"
    layers[i].norm.attention = "h.{i}.ln_1"
    layers[i].norm.ffn = "h.{i}.ln_2"
    layers[i].attention.qkv = fused(transpose("h.{i}.c_attn"), order: [q, k, v], groups: 2)
    layers[i].attention.o = transpose("h.{i}.c_proj")
    layers[i].ffn.gate_up = fused("h.{i}.gate_up", order: [gate, up])
    layers[i].ffn.down = "h.{i}.down"
    final_norm = "ln_f"
    head = "lm_head"
  }
}
"""
LAYER = {
    "ln_1.weight": (8,),
    "ln_2.weight": (8,),
    "c_attn.weight": (8, 16),
    "c_attn.bias": (16,),
    "c_proj.weight": (8, 8),
    "c_proj.bias": (8,),
    "gate_up.weight": (12, 8),
    "down.weight": (8, 6),
}
NAMES = {"wte.weight": (12, 8), "ln_f.weight": (8,), "lm_head.weight": (12, 8)} | {
    f"h.{i}.{n}": s for i in range(2) for n, s in LAYER.items()
}


def bits(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    content = path.read_bytes()
    return {n: (t.dtype, t.shape, content[t.offset : t.offset + t.length]) for n, t in read_header(path).items()}


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint16", "mixed"])
def test_there_and_back(tmp_path: Path, dtype: str) -> None:
    model = model_of(SPEC)
    types = {name: ("float32" if "ln_" in name else "uint16") if dtype == "mixed" else dtype for name in NAMES}
    arrays = {"t." + n: numbers(*shape, seed=i, dtype=types[n]) for i, (n, shape) in enumerate(NAMES.items())}
    first = checkpoint(tmp_path / "published", {**arrays, "t.h.0.attn.bias": numbers(1)}) / "model.safetensors"
    own = to_own(model, open_checkpoint(tmp_path / "published"), tmp_path / "own")
    again = to_published(model, open_checkpoint(tmp_path / "own"), tmp_path / "again")
    twice = to_own(model, open_checkpoint(tmp_path / "again"), tmp_path / "twice")
    assert (own.name, again.name) == ("weights.safetensors", "model.safetensors")
    before = {name: held for name, held in bits(first).items() if name in arrays}
    assert bits(again) == before
    assert twice.read_bytes() == own.read_bytes()
    assert set(bits(own)) == set(model.parameters())
    assert place(model, open_checkpoint(tmp_path / "own")).layout == "own"
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["model.safetensors"] * 2 + ["weights.safetensors"] * 2


def test_the_own_file_holds_what_the_parts_are(tmp_path: Path) -> None:
    model = model_of(SPEC)
    arrays = {n: numbers(*shape, seed=i) for i, (n, shape) in enumerate(NAMES.items())}
    own = load_file(to_own(model, open_checkpoint(checkpoint(tmp_path, arrays)), tmp_path))
    fused_rows = arrays["h.1.c_attn.weight"].T
    assert np.array_equal(own["layers.1.attention.q.weight"], fused_rows[[0, 1, 2, 3, 8, 9, 10, 11]])
    assert np.array_equal(own["layers.1.attention.v.bias"], arrays["h.1.c_attn.bias"][[6, 7, 14, 15]])
    assert np.array_equal(own["layers.0.attention.o.weight"], arrays["h.0.c_proj.weight"].T)
    assert np.array_equal(own["layers.0.ffn.up.weight"], arrays["h.0.gate_up.weight"][6:])


def test_own_layout_is_what_is_written(tmp_path: Path) -> None:
    model = model_of(SPEC)
    header, infos = own_layout(model, "BF16")
    path = init(model, tmp_path, dtype="BF16")
    assert path.read_bytes()[: len(header)] == header
    assert len(header) % 8 == 0
    assert list(infos) == sorted(model.parameters())
    written = read_header(path)
    assert {n: (t.dtype, t.shape, t.offset, t.length) for n, t in infos.items()} == {
        n: (t.dtype, t.shape, t.offset, t.length) for n, t in written.items()
    }


def test_mixed_types_stay_aligned(tmp_path: Path) -> None:
    model = Listed({"a": (3,), "b": (3,), "c": (1,)})
    arrays = {"a": numbers(3, dtype="uint16"), "b": numbers(3), "c": numbers(1, dtype="float64")}
    found = read_header(to_own(model, open_checkpoint(checkpoint(tmp_path, arrays)), tmp_path))
    assert list(found) == ["c", "b", "a"]
    assert [info.offset % size for info, size in zip(found.values(), (8, 4, 2), strict=True)] == [0, 0, 0]


def test_progress_counts_every_byte(tmp_path: Path) -> None:
    model, calls = model_of(SPEC), []
    init(model, tmp_path, progress=lambda *call: calls.append(call))
    total = 4 * sum(p.size for p in model.parameters().values())
    assert [name for name, _, _ in calls] == sorted(model.parameters())
    assert calls[-1][1:] == (total, total)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)


def test_a_failure_leaves_nothing_and_keeps_the_old(tmp_path: Path) -> None:
    model = model_of(SPEC)
    old = init(model, tmp_path, how="zeros").read_bytes()

    def stop(name: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        init(model, tmp_path, progress=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["weights.safetensors"]
    assert (tmp_path / "weights.safetensors").read_bytes() == old


def test_a_source_that_shrinks_is_noticed(tmp_path: Path) -> None:
    opened = open_checkpoint(checkpoint(tmp_path, {"a": numbers(100)}))
    with opened.files[0].open("r+b") as file:
        file.truncate(200)
    with pytest.raises(OSError, match="changed meanwhile"):
        to_own(Listed({"a": (100,)}), opened, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_published_needs_a_map(tmp_path: Path) -> None:
    opened = open_checkpoint(checkpoint(tmp_path, {"a": numbers(1)}))
    with refused("WGT017", "no `weights` section"):
        to_published(Listed({"a": (1,)}), opened, tmp_path)
    with refused("WGT017", "no `weights other`"):
        to_published(Listed({"a": (1,)}, (weight_map({"a": "x"}),)), opened, tmp_path, "other")


def test_the_map_asked_for(tmp_path: Path) -> None:
    maps = (weight_map({"a": "x"}), weight_map({"a": tensor("y", "z")}, root=("r.", ""), name="second"))
    save(tmp_path / "weights.safetensors", {"a": numbers(2)})
    path = to_published(Listed({"a": (2,)}, maps), open_checkpoint(tmp_path), tmp_path, "second")
    assert list(read_header(path)) == ["r.y"]


def test_what_cannot_be_published(tmp_path: Path) -> None:
    shapes = {"q": (2, 2), "k": (2, 2)}
    opened = open_checkpoint(checkpoint(tmp_path, {"q": numbers(2, 2), "k": numbers(2, 2, dtype="float16")}))
    for rules, words in (
        ({"q": "x"}, "no rule names `k`"),
        ({"q": "x", "k": "x"}, "`q` and `k` would both be `x`"),
        ({"qk": fused("x", "q k")}, "different types, F16, F32"),
    ):
        with refused("WGT018", words):
            to_published(Listed(shapes, (weight_map(rules),)), opened, tmp_path / "out")
    one = open_checkpoint(checkpoint(tmp_path, {"q": numbers(2, 2)}))
    with refused("WGT018", "`x` needs `k`"):
        to_published(Listed(shapes, (weight_map({"qk": fused("x", "q k")}),), ("k",)), one, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("turned", [False, True])
def test_fused_both_ways(tmp_path: Path, groups: int, turned: bool) -> None:
    shapes = {"q.weight": (6, 5), "k.weight": (3, 5), "q.bias": (6,), "k.bias": (3,)}
    rules = weight_map({"qk": fused(transpose("x") if turned else "x", "k q", groups)})
    arrays = {"x.weight": numbers(*((5, 9) if turned else (9, 5))), "x.bias": numbers(9)}
    model = Listed(shapes, (rules,))
    to_own(model, open_checkpoint(checkpoint(tmp_path / "a", arrays)), tmp_path / "b")
    back = load_file(to_published(model, open_checkpoint(tmp_path / "b"), tmp_path / "c"))
    assert all(np.array_equal(back[name], arrays[name]) for name in arrays)


def test_init_repeats_and_follows_the_seed(tmp_path: Path) -> None:
    model = model_of(SPEC)
    one, same, other = (init(model, tmp_path / str(i), seed=seed).read_bytes() for i, seed in enumerate((1, 1, 2)))
    assert one == same
    assert one != other


def test_init_draws_each_tensor_by_itself(tmp_path: Path) -> None:
    """A deeper model begins with the same numbers, so results stay comparable."""
    small, large = model_of(SPEC), model_of(SPEC.replace("depth     = 2", "depth     = 3"))
    one, two = load_file(init(small, tmp_path / "1")), load_file(init(large, tmp_path / "2"))
    assert set(one) < set(two)
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_init_follows_the_parameters(tmp_path: Path) -> None:
    drawn = load_file(init(model_of(SPEC), tmp_path))
    assert np.all(drawn["final_norm.weight"] == 1)
    assert np.all(drawn["layers.0.attention.q.bias"] == 0)
    assert all(np.all(array == 0) for array in load_file(init(model_of(SPEC), tmp_path, how="zeros")).values())
    assert not np.array_equal(drawn["layers.0.ffn.up.weight"], drawn["layers.1.ffn.up.weight"])


def test_init_spread_over_several_pieces(tmp_path: Path) -> None:
    model = Listed({"a.weight": (1500, 1000)})
    drawn = load_file(init(model, tmp_path))["a.weight"]
    assert abs(drawn.mean()) < 1e-4
    assert abs(drawn.std() - 0.02) < 1e-4
    assert not np.array_equal(drawn.ravel()[: 1 << 18], drawn.ravel()[1 << 20 : (1 << 20) + (1 << 18)])
    half = load(place(model, open_checkpoint(init(model, tmp_path, dtype="F16").parent)).stored["a.weight"], widen=True)
    assert np.array_equal(half, drawn.astype(np.float16).astype(np.float32))
    brain = load(place(model, open_checkpoint(init(model, tmp_path, dtype="BF16").parent)).stored["a.weight"], widen=True)
    assert np.all(np.abs(brain - drawn) <= np.abs(drawn) * 2.0**-8)


def test_init_refuses_other_types(tmp_path: Path) -> None:
    with refused("WGT019", "I8"):
        init(model_of(SPEC), tmp_path, dtype="I8")


def test_bfloat16_rounds_to_the_nearest_even() -> None:
    numbers32 = np.array([0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0xBF808001], np.uint32).view(np.float32)
    assert [hex(b) for b in narrowed(numbers32, "BF16")] == ["0x3f80", "0x3f82", "0x3f80", "0x3f81", "0xbf81"]
    every = np.arange(2**16, dtype=np.uint16)
    finite = every[(every & 0x7F80) != 0x7F80]
    assert np.array_equal(narrowed(widened(finite, "BF16"), "BF16"), finite)


def test_an_empty_tensor_and_a_scalar_pass(tmp_path: Path) -> None:
    model = Listed({"empty": (0, 3), "scalar": ()})
    arrays = {"empty": np.empty((0, 3), np.float32), "scalar": np.array(3, np.float32)}
    opened = open_checkpoint(checkpoint(tmp_path, arrays))
    assert load(place(model, opened).stored["empty"]).shape == (0, 3)
    assert bits(to_own(model, opened, tmp_path)) == bits(tmp_path / "model.safetensors")


def test_init_follows_the_model_s_deviation(tmp_path: Path) -> None:
    model = model_of(SPEC.replace("block     =", "init      = normal(0.5)\n  block     ="))
    init(model, tmp_path, seed=3)
    found = load_file(tmp_path / "weights.safetensors")
    assert abs(np.concatenate([found[key].ravel() for key in found if "norm" not in key and "bias" not in key]).std() - 0.5) < 0.03
