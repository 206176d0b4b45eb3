"""The value of a number's spelling: underscores, exponents and the suffixes k, M, G, KiB, MiB, GiB."""

from __future__ import annotations

import math

from specc.syntax import limits

_SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class BadNumber(Exception):
    """A spelling without a value; carries the diagnostic's code, message and help."""


def value_of(text: str) -> int | float:
    """The value: an int unless the spelling has a point or an exponent and no suffix."""
    if len(text) > limits.SPELLING:
        raise BadNumber("LIM008", f"a number of {len(text)} characters", f"at most {limits.SPELLING} are read")
    plain = text.replace("_", "")
    digits = plain.rstrip("kKMGiB")
    if suffix := plain[len(digits) :]:
        units, _, decimals = digits.partition(".")
        whole, rest = divmod(int(units + decimals) * _SUFFIXES[suffix], 10 ** len(decimals))
        if rest:
            raise BadNumber("SYN007", f"`{text}` is not a whole number", "a number with a suffix counts things or bytes")
        return _bounded(text, whole)
    if plain.isdigit():
        return _bounded(text, int(plain))
    value = float(plain)
    if not math.isfinite(value):
        raise BadNumber("LIM006", f"`{text}` is too large for a floating-point number", "the largest is about 1.8e308")
    mantissa = plain.lower().partition("e")[0]
    if value == 0 and mantissa.strip("0."):
        raise BadNumber("LIM006", f"`{text}` is too small for a floating-point number", "it would be read as zero")
    return value


def _bounded(text: str, value: int) -> int:
    if value > limits.INTEGER:
        raise BadNumber("LIM005", f"the integer `{text}` does not fit 64 bits", f"the largest is {limits.INTEGER:_}")
    return value
