"""What the benchmarks share: whole processes timed in turn, medians, and tables."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).resolve().parent.parent
SPECC = [sys.executable, "-m", "specc"]
MISSING = "not installed"


class Failed(Exception):
    """A contender that did not do its work; says why in one line."""


@dataclass
class Contender:
    """One row of a table: a command, or why there is none."""

    name: str
    command: Sequence[str] = ()
    trouble: str = ""
    prepare: Callable[[], None] = lambda: None
    out: Path | None = None
    seconds: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)


def spawn(command: Sequence[str]) -> tuple[float, float, float]:
    """A command to its end -> seconds, seconds of CPU time, and the most memory it held at once in MB. Raises Failed.

    wait4 counts a child from before its exec, when it still is a copy of this process: these scripts import nothing large.
    """
    with tempfile.TemporaryFile() as said:
        begin = time.perf_counter()
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=REPOSITORY, env=quiet())
        except OSError as error:
            raise Failed(f"cannot start: {error.strerror}") from None
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            lines = [line.strip() for line in said.read().decode(errors="replace").splitlines() if line.strip()]
            raise Failed(f"failed ({child.returncode}): {lines[-1][:120] if lines else 'no output'}")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6


def quiet() -> dict[str, str]:
    """No network, no colours, and compiled modules kept from one run to the next, as they are for users."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"HF_HUB_OFFLINE": "1", "NO_COLOR": "1", "TOKENIZERS_PARALLELISM": "false"}


def interleaved(contenders: Sequence[Contender], runs: int) -> None:
    """Every contender once per round, so that a slow phase of the machine meets all of them. The first round is not counted."""
    for number in range(runs + 1):
        turn = number % max(1, len(contenders))
        for contender in [*contenders[turn:], *contenders[:turn]]:
            if contender.trouble:
                continue
            try:
                contender.prepare()
                seconds, work, megabytes = spawn(contender.command)
            except (Failed, OSError) as error:
                contender.trouble = str(error)
                continue
            if number:
                contender.seconds.append(seconds)
                contender.work.append(work)
                contender.megabytes.append(megabytes)
            say(f"round {number}/{runs}  {contender.name}: {seconds:.2f} s")


def ratio(own: Sequence[float], base: Sequence[float]) -> float | None:
    """The median over rounds of own / base in the same round: drift of the machine cancels out."""
    return median(a / b for a, b in zip(own, base, strict=False)) if own and base else None


def has(python: str, module: str) -> bool:
    """Whether an interpreter finds a module."""
    probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    try:
        return subprocess.run([python, "-c", probe], capture_output=True).returncode == 0
    except OSError:
        return False


def versions(python: str, distributions: Sequence[str]) -> str:
    """`name version, ...` of those that an interpreter has."""
    probe = (
        "import sys\nfrom importlib.metadata import version, PackageNotFoundError\nprint('Python', sys.version.split()[0])\n"
        "for name in sys.argv[1:]:\n    try: print(name, version(name))\n    except PackageNotFoundError: pass"
    )
    try:
        said = subprocess.run([python, "-c", probe, *distributions], capture_output=True, text=True).stdout
    except OSError:
        return f"no interpreter at {python}"
    return ", ".join(said.splitlines())


@contextmanager
def workplace(folder: str | None) -> Iterator[Path]:
    """The folder to work in: the one given, which is kept, or a temporary one."""
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        yield Path(folder).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="specc-benchmark-") as made:
        yield Path(made)


def say(line: str) -> None:
    """Progress goes to stderr, so that stdout is the table alone."""
    print(line, file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> str:
    """The first column to the left, the others to the right."""
    if markdown:
        lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = []
    for name, *cells in [head, *rows]:
        padded = [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def number(value: float | None, digits: int, unit: str = "") -> str:
    return "-" if value is None else f"{value:,.{digits}f}{unit}"
