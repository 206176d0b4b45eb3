"""Which of ONNX Runtime's providers can run here. CUDA counts only where a session really gets it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
# TensorFloat-32 keeps 10 bits of a float32 product's mantissa: graphs are proved equal without it.
CUDA_OPTIONS = {"use_tf32": "0"}


def cuda_obstacle() -> str | None:
    """Why CUDA cannot even be tried, None where it can."""
    import onnxruntime

    if CUDA not in onnxruntime.get_available_providers():
        return "this onnxruntime has no CUDA provider (onnxruntime-gpu has it)"
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return "no NVIDIA driver is loaded on this machine"
    return None


def cuda_session(path: str, options: Any) -> tuple[Any | None, str]:
    """A session on CUDA, or None and why there is none."""
    import onnxruntime

    with _quiet():
        try:
            session = onnxruntime.InferenceSession(path, options, providers=[(CUDA, CUDA_OPTIONS), CPU], enable_fallback=0)
        except Exception as error:  # onnxruntime's own kinds share no other base
            return None, first_line(error)
    if session.get_providers()[0] != CUDA:
        return None, "the CUDA or cuDNN libraries that onnxruntime needs do not load"
    return session, ""


@contextmanager
def _quiet() -> Iterator[None]:
    """A provider that does not load fills the terminal otherwise; what matters of it is said in one line."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    try:
        yield
    finally:
        onnxruntime.set_default_logger_severity(2)


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
