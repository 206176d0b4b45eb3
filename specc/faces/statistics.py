"""How often each code was found, the most frequent first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from specc.diagnostics.codes import all_codes
from specc.diagnostics.finding import Diagnostic


def statistics(found: Iterable[Diagnostic], format: str) -> str:
    """As a table for people; as a list of records in every other form."""
    counted = sorted(Counter(d.code for d in found).items(), key=lambda item: (-item[1], item[0]))
    if format != "text":
        return json.dumps([{"code": code, "count": count, "title": all_codes()[code].title} for code, count in counted], indent=2)
    width = max((len(str(count)) for _, count in counted), default=0)
    return "\n".join(f"{count:{width}}  {code}  {all_codes()[code].title}" for code, count in counted) or "nothing wrong"
