"""`python -m specc.tools.capabilities`: writes docs/capabilities.md, what each back end makes of each field, from the components."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specc.components.registry import AXES, OF_TRAINING, load, members
from specc.diagnostics.codes import all_codes
from specc.ir.node import Component
from specc.tools.tolerance import TOLERANCE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capabilities.md"
UNMEASURED = "not measured"
INTRODUCTION = """\
# What each back end does

<!-- Written by `python -m specc.tools.capabilities`, from the components. Change `native` in a component's file instead. -->

* **native**: one operator takes the field, as an attribute or an input of its own.
* **lowered**: the field is spelt out in several operators, or in the shapes of the weights. With `sinks`, all of the attention is.
* **written**: the field is in the text of the PyTorch file, as the line that one would write by hand.
* **refused**: there is a diagnostic, and nothing is built.
* **not measured**: the graph is the same as on the CPU, and nobody has run it there. No claim is made.

Native, lowered and written are all held to the same: for each field there are two values whose numbers differ, and PyTorch and
ONNX Runtime on the CPU follow an independent formula on both (`tests/contract/test_mutation.py`). No field is taken by one back
end and refused by the other.

## Types

A graph computes in the type that `--dtype` names. `stored`, the default, follows the weights: float32 on the CPU, their own
type for `--provider cuda` where they all have the same one. Weights of another type are cast as they are read; the file stays
as it is. Numbers are compared relative to the largest one.

| | float32 | float16 | bfloat16 |
|---|---|---|---|
"""
REFUSED = ("CAP001", "OUT002", "ADP006", "ADP007", "CFG010", "CFG011", "WGT003", "WGT008", "SYS008")


def page() -> str:
    """The text of docs/capabilities.md."""
    text = INTRODUCTION + "".join(f"| {' | '.join(row)} |\n" for row in _types())
    text += "\n## Fields\n"
    for axis in (axis for axis in AXES if axis not in OF_TRAINING):
        text += f"\n### {axis}\n\n| kind | fields | PyTorch | ONNX on the CPU | ONNX on CUDA |\n|---|---|---|---|---|\n"
        text += "".join(f"| {' | '.join(row)} |\n" for kind in members(axis) for row in _rows(kind, load(axis, kind)))
    text += "\n## Refused\n\n| code | what | why |\n|---|---|---|\n"
    codes = all_codes()
    return text + "".join(f"| {code} | {codes[code].title} | {codes[code].cause} |\n" for code in REFUSED)


def _types() -> Iterator[tuple[str, ...]]:
    allowed = {name: f"within {TOLERANCE[name]:g}" for name in ("float32", "float16", "bfloat16")}
    yield "PyTorch on the CPU", f"{allowed['float32']} of the formulas", UNMEASURED, UNMEASURED
    half = f"{allowed['float16']} of PyTorch in float32"
    yield "ONNX on the CPU", f"{allowed['float32']} of the formulas", half, "refused (SYS008): no kernels"
    yield "ONNX on CUDA", UNMEASURED, UNMEASURED, UNMEASURED


def _rows(kind: str, component: type[Component]) -> Iterator[tuple[str, ...]]:
    """The kind itself, and its fields gathered by what becomes of them."""
    fields = [name for name in component.model_fields if component.role(name) == "architecture"]
    groups: dict[str, list[str]] = {}
    for name in fields:
        operator = component.native.get(name)
        groups.setdefault(f"native: {operator}" if operator else "lowered", []).append(name)
    first = True
    for treatment, names in groups.items():
        shown = ", ".join("itself" if name == "kind" else name for name in names)
        yield kind if first else "", shown, "written", treatment, UNMEASURED
        first = False


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
