"""The fingerprint of an adapter: the same for every text that means the same numbers over the same architecture."""

from __future__ import annotations

import hashlib
import json

from specc.ir.adapter import Adapter
from specc.ir.fingerprint import VERSION, content_of, fingerprint


def fingerprint_adapter(adapter: Adapter) -> str:
    """sha256 of the model's fingerprint and of the methods, without what only training uses."""
    content = {"version": VERSION, "base": fingerprint(adapter.base), "methods": [content_of(method) for method in adapter.methods]}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()).hexdigest()
