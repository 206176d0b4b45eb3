"""Files made to hurt end in a diagnostic, each within a second and 200 MB (0.8 seconds and 130 MB at most when this was written).

Each is checked by a process of its own, whose processor time and memory are measured. The tests allow three times the
second, for slow machines.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from specc.diagnostics.table.example import family, layers, spec

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process's memory is read from /proc")
SECONDS, MEGABYTES = 3.0, 200
# the peak of this very program: what getrusage gives may be that of the process that started it
MEASURE = """
import sys, time
from specc.faces.cli import main
try:
    status = main(["check", sys.argv[1]])
finally:
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print("peak", int(peak) // 1024, time.process_time(), file=sys.stderr)
sys.exit(status)
"""


@dataclass
class Outcome:
    status: int
    text: str
    seconds: float
    megabytes: int


def check(path: Path) -> Outcome:
    command = [sys.executable, "-c", MEASURE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, env=os.environ | {"PYTHONHASHSEED": "0"})
    text, _, last = done.stderr.rpartition("peak ")
    megabytes, seconds = last.split()
    return Outcome(done.returncode, done.stdout + text, float(seconds), int(megabytes))


def survives(path: Path, code: str | None, status: int = 1) -> None:
    found = check(path)
    assert "Traceback" not in found.text
    assert found.status == status, found.text[:500]
    assert code is None or f" {code}: " in found.text, found.text[:500]
    assert len(found.text) < 200_000
    assert found.megabytes < MEGABYTES
    assert found.seconds < SECONDS


def doubled(first: str, step: str, names: str = "a", count: int = 60) -> list[str]:
    """Names each of which says the one before more than once: small text, and a value of 2 ** count parts."""
    return [f"{names}0 = {first}", *(f"{names}{n} = {step.format(f'{names}{n - 1}')}" for n in range(1, count))]


ONE = "layer a { mask = causal }"
GROWING = "mlp(hidden: layer.index + 1, activation: gelu)"
RULE = 'layers[i].part{} = "a"'

# text, code it must be given (None: it is right)
TEXTS: dict[str, tuple[str, str | None]] = {
    # layers
    "a billion layers": (spec(depth="1_000_000_000"), "LIM010"),
    "a billion times a layer": (layers(ONE, layers="[1_000_000_000 * a]"), "LIM010"),
    "many runs of layers": (layers(ONE, layers=f"[{'10_000 * a, ' * 3000}]"), "LIM010"),
    "nested repeat": (layers(ONE, layers=f"repeat [{'repeat [' * 90}a{']' * 90}]"), None),
    "nested lists of layers": (layers(ONE, *doubled("[a, a]", "[{0}, {0}, {0}]", "n"), layers="n59"), "LIM010"),
    "nested lists of nothing": (layers(ONE, *doubled("[]", "[{0}, {0}, {0}]", "n"), layers="n59"), "LIM013"),
    "loops in loops": (layers(ONE, layers="[for i in range(10_000): [for j in range(10_000): a]]"), "LIM013"),
    "ten thousand layers of their own": (spec(depth="10_000", ffn=GROWING), None),
    "ten thousand wrong layers": (spec(depth="10_000", ffn="mlp(hidden: -layer.index, activation: gelu)"), "VAL001"),
    "a lookup in each of ten thousand layers": (
        spec("sizes = [for i in range(10_000): i + 1]", depth="10_000", ffn="mlp(hidden: sizes[layer.index], activation: gelu)"),
        None,
    ),
    "thousands of kinds of layers": (
        spec(
            *(f"layer l{n} {{ mask = sliding({n + 1}) }}" for n in range(3000)),
            f"layers = [{', '.join(f'l{n}' for n in range(3000))}]",
            depth="3000",
        ),
        None,
    ),
    "thousands of layers that are not used": (
        layers(*(f"layer l{n} {{ mask = causal }}" for n in range(9000)), layers="[2 * l0]"),
        "LIM015",
    ),
    # numbers
    "an exponent tower": (spec(dim="9**9**9**9"), "LIM011"),
    "a float tower": (spec(attention="attention(heads: 2, scale: 10.0 ** 400)"), "LIM012"),
    "a power of almost one": (spec(attention="attention(heads: 2, scale: 1.0000001 ** 9_000_000_000_000_000_000)"), "LIM012"),
    "the one overflow of a division": (spec(dim="(-9_223_372_036_854_775_807 - 1) // -1"), "LIM011"),
    "a width that makes counts of more than 64 bits": (
        spec(
            "checks { params > 9e30  kv_cache(tokens: 9_000_000_000_000_000_000) > 9e30  flops(context: 100) > 9e30 }",
            dim="9_000_000_000_000_000_000",
            vocab="9_000_000_000_000_000_000",
            context="9_000_000_000_000_000_000",
        ),
        None,
    ),
    "a width that makes counts of more than 64 bits, checked": (spec("checks { params == 1 }", dim="9_000_000_000_000_000_000"), "CHK001"),
    "as many heads as there are numbers": (spec(attention="attention(heads: 9_000_000_000_000_000_000, head_dim: 2)"), None),
    "a number of many digits": (spec(dim="9" * 900_000), "LIM008"),
    # depth
    "two hundred thousand parentheses": (spec(depth="(" * 200_000 + "2" + ")" * 200_000), "LIM002"),
    "two hundred thousand brackets": ("model m { a = " + "[" * 200_000, "LIM002"),
    "a chain of attributes": (spec(depth="a" + ".a" * 150), "TYP007"),
    "a longer chain of attributes": (spec(depth="a" + ".a" * 90_000), "LIM004"),
    "a chain of names": (spec(*(f"a{n} = a{n + 1}" for n in range(5000)), "a5000 = 2", depth="a0"), "LIM016"),
    "a circle of names": (spec(*(f"a{n} = a{(n + 1) % 3000}" for n in range(3000)), depth="a0"), "LIM016"),
    "a chain of functions": (spec(*(f"a{n} = sqrt(a{n + 1})" for n in range(5000)), "a5000 = 2", depth="len([a0, a0])"), "LIM016"),
    "loops around loops": (spec(depth=f"len({'[for a in [1]: ' * 90}a{']' * 90})"), None),
    "a model that extends itself": ("model m extends m { dim = 3 }", "VAL005"),
    "models that extend each other": ("model a extends b { }\nmodel b extends c { }\nmodel c extends a { }\n", "VAL005"),
    "thousands of models that extend each other": (
        "model m0 { }\n" + "".join(f"model m{n} extends m{n - 1} {{ }}\n" for n in range(1, 5000)),
        "LIM015",
    ),
    # values
    "loops over loops over numbers": (spec(depth="len([for i in range(10_000): [for j in range(10_000): i * j]])"), "LIM013"),
    "ranges in a loop": (spec(depth="len([for i in range(10_000): range(10_000)])"), "LIM013"),
    "a range of all numbers": (spec(depth="len(range(9_000_000_000_000_000_000))"), "LIM010"),
    "lists joined to lists": (spec(*doubled("range(9_000)", "{0} + {0}"), depth="len(a59)"), "LIM010"),
    "lists in lists compared": (
        spec(*doubled("[1]", "[{0}, {0}]"), *doubled("[1]", "[{0}, {0}]", "b"), depth="if a59 == b59 then 2 else 3"),
        "LIM013",
    ),
    "lists in lists searched": (
        spec(*doubled("[1]", "[{0}, {0}]"), *doubled("[1]", "[{0}, {0}]", "b"), depth="if contains(a59, b58) then 2 else 3"),
        "LIM013",
    ),
    "lists in lists as a record": (spec(*doubled("[1]", "[{0}, {0}]"), "r = record(a: a59)", depth="r.a"), "LIM013"),
    "long lists compared in a loop": (spec("a = range(10_000)", "b = range(10_000)", depth="len([for i in a: a == b])"), "LIM013"),
    "long strings searched in a loop": (
        spec(depth=f'len([for i in range(10_000): contains("{"a" * 400_000}", "{"a" * 400_000}b")])'),
        "LIM013",
    ),
    "alternatives of alternatives": (spec(*doubled('"a"', "{0} | {0}"), "weights hf { embed.tokens = a59 }"), "LIM013"),
    "arms of a match in a loop": (
        spec(depth=f"len([for i in range(10_000): match i {{ {' '.join(f'{n}: {n}' for n in range(9000))} else: 1 }}])"),
        "LIM013",
    ),
    "a match without an arm that fits": (spec(depth=f'match "b" {{ {" ".join(f"{n}: {n}" for n in range(9000))} }}'), "VAL006"),
    # many of something
    "many names that are not used": (spec(*(f"zz{n} = 1" for n in range(20_000))), "LIM015"),
    "many misspelt names": (spec(*(f"norm{n} = 1" for n in range(20_000))), "LIM015"),
    "a name given many times": (spec(*("zz = 1" for _ in range(20_000))), "LIM015"),
    "many wrong arguments": (spec(norm=f"rms({', '.join(f'e{n}: 1' for n in range(20_000))})"), "NAM002"),
    "many requirements": (spec(*('require 1 == 2 else "x"' for _ in range(20_000))), "LIM015"),
    "many checks": (spec(f"checks {{ {'flops(context: 3) > 0 ' * 10_000} }}", depth="10_000"), "LIM013"),
    "many rules": (spec(f"weights hf {{ {' '.join(map(RULE.format, range(9000)))} }}"), "LIM015"),
    "many weights": (spec(*(f'weights w{n} {{ embed.tokens = "a" }}' for n in range(9000)), depth="10_000"), "LIM013"),
    "many models": ("model m0 " + spec()[8:] + "".join(f"model m{n} extends m0 {{ }}\n" for n in range(1, 9000)), "LIM013"),
    "many statements of a block": (spec(above=f"block b(x) {{ {'x = x + ffn(x) ' * 20_000} final_norm = norm }}\n", block="b"), "LIM013"),
    "many wrong statements of a block": (
        spec(above=f"block b(x) {{ {'x = x + fnn(x) ' * 9000} final_norm = norm }}\n", block="b"),
        "NAM011",
    ),
    "many labels": (
        spec(above=f"block b(x) {{ {' '.join(f'x = x + ffn.l{n}(x)' for n in range(9000))} final_norm = norm }}\n", block="b"),
        "LIM013",
    ),
    "many heads": (spec(head=f"[{'hidden, ' * 9000}]"), "CAP002"),
    "many experts": (
        spec(
            "checks { params > 1 }",
            ffn="moe(experts: 1_000_000_000, top_k: 1, expert: gated(hidden: 8, activation: silu), router: softmax)",
        ),
        "VAL001",
    ),
    "many experts in each of many layers": (
        spec(
            "checks { params > 1 }",
            depth="10_000",
            ffn="moe(experts: 4096, top_k: 1, expert: gated(hidden: layer.index + 1, activation: silu), router: softmax)",
        ),
        "LIM013",
    ),
    "experts of experts": (
        spec(
            "a = moe(experts: 4096, top_k: 1, expert: gated(hidden: 8, activation: silu), router: softmax)",
            "checks { params > 1 }",
            ffn="moe(experts: 4096, top_k: 1, expert: a, router: softmax)",
        ),
        "SHP008",
    ),
    "many syntax errors": ("model m { = }\n" * 30_000, "SYN001"),
    "many words": ("a " * 300_000, "LIM009"),
    # text
    "a huge string": (spec(mask=f'"{"a" * 900_000}"'), "TYP001"),
    "a huge name": (spec(mask="a" * 900_000), "NAM001"),
    "a string of quotes": ('"' * 500_000, "LIM009"),
    "letters of other alphabets": ("model m\N{LATIN SMALL LETTER O WITH DIAERESIS}del { }", "SYN006"),
    "many letters of other alphabets": ("\N{LATIN SMALL LETTER O WITH DIAERESIS}" * 400_000, "SYN006"),
    "control characters": ("model m\x01 { dim\x07 = 3\x1b[2J }", "SYN006"),
    "text that turns around": (spec(dim="1\N{RIGHT-TO-LEFT OVERRIDE}6"), "SYN006"),
    "an unpaired bracket and no end": ("model m {" * 90, "SYN001"),
    "an empty file": ("", None),
    "a byte order mark alone": ("\N{ZERO WIDTH NO-BREAK SPACE}", None),
    "comments alone": ("# nothing\n## here\n" * 9000, None),
    "carriage returns alone": ("\r" * 900_000, None),
    # families
    "a family whose sample is a number": (family(sample="1"), "VAL011"),
    "a family whose sample reads itself": (family(sample="config"), "VAL011"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text(name: str, tmp_path: Path) -> None:
    text, code = TEXTS[name]
    (tmp_path / "m.specc").write_text(text, encoding="utf-8", newline="")
    survives(tmp_path / "m.specc", code, 0 if code is None else 1)


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"\0\1\2", "LIM007"), (random.Random(0).randbytes(100_000), "LIM007"), (b"model m\xf6", "LIM007"), (b"#" * 3_000_000, "LIM001")],
)
def test_hostile_bytes(content: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "m.specc").write_bytes(content)
    survives(tmp_path / "m.specc", code)


def test_a_folder_a_missing_file_and_a_device(tmp_path: Path) -> None:
    survives(tmp_path, "SYS002", 2)
    survives(tmp_path / "missing.specc", "SYS001", 2)
    survives(Path("/dev/zero"), "LIM001")


def test_files_that_use_each_other(tmp_path: Path) -> None:
    for number in range(2001):
        (tmp_path / f"c{number}.specc").write_text(f'use "c{number + 1}.specc"\n')
        (tmp_path / f"w{number}.specc").write_text("")
    (tmp_path / "c2001.specc").write_text(spec())
    survives(tmp_path / "c0.specc", "LIM014")
    (tmp_path / "wide.specc").write_text("".join(f'use "w{n}.specc"\n' for n in range(2001)))
    survives(tmp_path / "wide.specc", "LIM014")
    (tmp_path / "c50.specc").write_text('use "c0.specc"\n')
    survives(tmp_path / "c0.specc", "NAM009")
    (tmp_path / "itself.specc").write_text('use "itself.specc"\n')
    survives(tmp_path / "itself.specc", "NAM009")
    (tmp_path / "device.specc").write_text('use "/dev/zero"\n')
    survives(tmp_path / "device.specc", "SYS001", 2)
    (tmp_path / "long.specc").write_text(f'use "{"a" * 10_000}"\n')
    survives(tmp_path / "long.specc", "SYS001", 2)
