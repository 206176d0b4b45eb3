"""Imports point down: this list is the architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import specc

PACKAGE = Path(specc.__file__).parent
ROOMS = (
    ("specc.source", "specc.resources"),
    ("specc.diagnostics",),
    ("specc.syntax",),
    ("specc.ir.node",),
    ("specc.components",),
    ("specc.ir",),
    ("specc.resolve",),
    ("specc.backends", "specc.weights"),
    ("specc.tools",),
    ("specc.faces", "specc.pytest_plugin", "specc.pytest_items"),
)
APART = (("specc.backends.torch", "specc.backends.onnx"),)  # rooms of one rank that may not know of each other
HOME = {"lark": "specc.syntax", "jinja2": "specc.backends.torch", "onnx": "specc.backends.onnx", "pygls": "specc.faces.lsp", "lsprotocol": "specc.faces.lsp"}
LATE = {
    "torch",
    "onnxruntime",
    "transformers",
    "numpy",
    "safetensors",
    "tokenizers",
    "onnx",
}  # imported inside the functions that need them
FILES = sorted(PACKAGE.rglob("*.py"))


def _module(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _inside(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def _rank(module: str) -> int | None:
    """The rank of the room whose name fits longest; None for the package itself."""
    fits = [(len(room), rank) for rank, rooms in enumerate(ROOMS) for room in rooms if _inside(module, room)]
    return max(fits)[1] if fits else None


def _imports(file: Path) -> Iterator[tuple[str, bool, int]]:
    """Every module imported at run time, whether while the file itself is imported, and the line."""
    module = _module(file)
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, top: bool) -> Iterator[tuple[str, bool, int]]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for inner in node.orelse:
                yield from walk(inner, top)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, top, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                yield (_submodule(base, alias.name), top, node.lineno)
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for inner in ast.iter_child_nodes(node):
            yield from walk(inner, top and not inside)

    yield from walk(ast.parse(file.read_text("utf-8")), True)


def _submodule(base: str, name: str) -> str:
    """`from package import name` imports a module where there is one of that name."""
    folder = PACKAGE.parent.joinpath(*base.split("."))
    is_module = base.split(".")[0] == "specc" and ((folder / f"{name}.py").is_file() or (folder / name).is_dir())
    return f"{base}.{name}" if is_module else base


def test_every_room_exists():
    assert FILES
    known = {_module(file) for file in FILES}
    assert all(room in known for rooms in ROOMS for room in rooms)


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_every_file_is_in_a_room(file: Path):
    assert _rank(_module(file)) is not None or _module(file) in ("specc", "specc.__main__")


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_imports_point_down(file: Path):
    own = _rank(_module(file))
    if own is None:
        return
    up = [
        (target, line)
        for target, _, line in _imports(file)
        if target.split(".")[0] == "specc" and (_rank(target) is None or _rank(target) > own)
    ]
    up = [(target, line) for target, line in up if target != "specc"]  # the version
    assert not up, f"{_module(file)} imports from a room above its own: {up}"


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_the_back_ends_do_not_know_each_other(file: Path):
    module = _module(file)
    for rooms in APART:
        for room in rooms:
            if _inside(module, room):
                others = [other for other in rooms if other != room]
                assert not [target for target, _, _ in _imports(file) if any(_inside(target, other) for other in others)]


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_each_library_has_one_home(file: Path):
    module = _module(file)
    strays = [
        (target, line) for target, _, line in _imports(file) if (home := HOME.get(target.split(".")[0])) and not _inside(module, home)
    ]
    assert not strays


@pytest.mark.parametrize("file", FILES, ids=_module)
def test_heavy_libraries_are_imported_late(file: Path):
    early = [(target, line) for target, top, line in _imports(file) if top and target.split(".")[0] in LATE]
    if _inside(_module(file), HOME["onnx"]):
        early = [(target, line) for target, line in early if target.split(".")[0] != "onnx"]
    assert not early
