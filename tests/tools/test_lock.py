"""specc.lock: what it holds, what leaves it as it is, and every way to drift from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.diagnostics import SpecError
from specc.diagnostics.table.example import family, spec
from specc.ir.fingerprint import fingerprint
from specc.tools import lock
from specc.tools.lock_check import held_against

WEIGHTS = 'weights hf {{ embed.tokens = "{}" }}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs" / "m.specc").write_text(spec(WEIGHTS.format("wte")))
    (tmp_path / "specs" / "f.specc").write_text(family().replace("model m", "model f"))
    (tmp_path / "specs" / "blocks.specc").write_text("block b(x) { x = x + ffn(x) }")
    return tmp_path


def write(folder: Path, *names: str) -> lock.Lock:
    given = [folder / name for name in names or ("specs",)]
    files = [file for path in given for file in (sorted(path.rglob("*.specc")) if path.is_dir() else [path])]
    new = lock.locked(given, files, lock.read(folder), folder)
    new.path.write_text(new.text())
    return new


def codes(folder: Path) -> list[tuple[str, str]]:
    found, _ = held_against([folder / "specs"], sorted((folder / "specs").rglob("*.specc")))
    return [(d.code, d.message) for d in found]


def test_what_it_holds(folder: Path) -> None:
    content = json.loads(write(folder).text())
    assert content["roots"] == ["specs"]
    assert list(content["specs"]) == ["specs/f.specc", "specs/m.specc"], "sorted, and no file without a model"
    entry = content["specs"]["specs/m.specc"]["m"]
    model = lock.models(folder / "specs" / "m.specc")["m"].model
    assert entry["architecture"] == fingerprint(model)
    assert entry["parameters"] == sum(p.size for p in model.parameters().values())
    assert entry["facts"]["layers[i].position"] == "rope(theta: 10_000, layout: half)"
    assert list(entry["weights"]) == ["hf"]
    assert codes(folder) == []


def test_the_same_specs_make_the_same_file(folder: Path) -> None:
    first = write(folder).text()
    assert write(folder).text() == first == lock.read(folder).text()


def test_what_leaves_it_as_it_is(folder: Path) -> None:
    write(folder)
    text = spec(WEIGHTS.format("wte"), "dropout = 0.1", above="# a comment\n").replace("10_000", "1e4")
    (folder / "specs" / "m.specc").write_text(text.replace("  dim   ", "\n\n  dim"))
    assert codes(folder) == []


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (spec(WEIGHTS.format("wte"), position="rope(theta: 20_000)"), "LCK004",
         "layers[i].position was rope(theta: 10_000, layout: half) and is rope(theta: 20_000, layout: half)"),
        (spec(WEIGHTS.format("wte"), mask="sliding(4)"), "LCK004", "layers[i].mask was causal and is sliding(window: 4)"),
        (spec(WEIGHTS.format("word_embeddings")), "LCK006", "weights hf"),
        (spec(), "LCK006", "weights hf"),
        (spec(WEIGHTS.format("wte")) + spec().replace("model m", "model n"), "LCK002", "`n` of specs/m.specc is not in specc.lock"),
        (spec(WEIGHTS.format("wte")).replace("model m", "model n"), "LCK003", "a model `m` of specs/m.specc, and the file has none"),
    ],
)  # fmt: skip
def test_drift(text: str, code: str, said: str, folder: Path) -> None:
    write(folder)
    (folder / "specs" / "m.specc").write_text(text)
    found = codes(folder)
    assert code in dict(found)
    assert any(said in message for found_code, message in found if found_code == code), found


def test_another_state_dict(folder: Path) -> None:
    write(folder)
    (folder / "specs" / "m.specc").write_text(spec(WEIGHTS.format("wte"), ffn="mlp(hidden: 32, activation: gelu)"))
    assert [code for code, _ in codes(folder)] == ["LCK004", "LCK005"]
    assert " parameters were locked, and it has " in codes(folder)[1][1]
    block = "block own(x) { final_norm = norm  x = x + attention(norm.LABEL(x))  x = x + ffn(norm.ffn(x)) }\n"
    (folder / "specs" / "m.specc").write_text(spec(above=block.replace("LABEL", "attention"), block="own"))
    write(folder)
    (folder / "specs" / "m.specc").write_text(spec(above=block.replace("LABEL", "first"), block="own"))
    assert "tensors of other names or shapes" in dict(codes(folder))["LCK005"]


def test_a_file_that_is_gone_and_one_that_is_new(folder: Path) -> None:
    write(folder)
    (folder / "specs" / "f.specc").rename(folder / "specs" / "g.specc")
    assert codes(folder) == [
        ("LCK002", "`f` of specs/g.specc is not in specc.lock"),
        ("LCK003", "specc.lock holds specs/f.specc, and the file is gone"),
    ]
    write(folder)
    assert codes(folder) == []


def test_a_family_by_its_sample(folder: Path) -> None:
    write(folder)
    (folder / "specs" / "f.specc").write_text(family(norm="rms(eps: 1e-6)").replace("model m", "model f"))
    assert [code for code, _ in codes(folder)] == ["LCK004"]


def test_one_file_alone_leaves_the_others(folder: Path) -> None:
    before = write(folder)
    (folder / "specs" / "m.specc").write_text(spec(mask="bidirectional"))
    (folder / "specs" / "f.specc").write_text(family(mask="bidirectional").replace("model m", "model f"))
    after = write(folder, "specs/m.specc")
    assert after.roots == ["specs"]
    assert after.specs["specs/f.specc"] == before.specs["specs/f.specc"]
    assert after.specs["specs/m.specc"] != before.specs["specs/m.specc"]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": 0}', '{"format": 1, "fingerprint": 1, "roots": 1, "specs": {"a": 1}}'])
def test_a_lock_that_is_none(text: str, folder: Path) -> None:
    (folder / "specc.lock").write_text(text)
    with pytest.raises(SpecError) as caught:
        lock.read(folder)
    assert caught.value.diagnostics[0].code == "LCK001"
    assert [code for code, _ in codes(folder)] == ["LCK001"]


def test_no_lock(folder: Path) -> None:
    assert lock.read(folder) is None
    assert [code for code, _ in codes(folder)] == ["LCK001"]


def test_where_it_lies(folder: Path) -> None:
    specs = folder / "specs"
    assert lock.folder_for([specs]) == lock.folder_for([specs / "m.specc"]) == folder
    (folder / "pyproject.toml").unlink()
    (folder / ".git").mkdir()
    assert lock.folder_for([specs]) == specs
    (folder / "specc.lock").touch()
    assert lock.folder_for([specs]) == folder
