"""Reads back what a graph file says of itself; the weights are not looked at."""

from __future__ import annotations

from pathlib import Path

from specc.diagnostics.finding import fail


def properties(path: Path) -> dict[str, str]:
    """The graph's metadata. Raises SpecError where the file is no ONNX graph."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    graph = ModelProto()
    try:
        graph.ParseFromString(path.read_bytes())
    except OSError as error:
        raise fail("SYS001", f"cannot read {path}: {error.strerror or error}") from None
    except DecodeError:
        raise fail(
            "SYS021", f"{path} is not an ONNX graph", None, "build it again: `specc build SPEC --to onnx -o DIR --weights ...`"
        ) from None
    return {entry.key: entry.value for entry in graph.metadata_props}
