"""The small complete files that the table's examples are variations of."""

from __future__ import annotations

_MODEL = {
    "vocab": "64",
    "dim": "16",
    "depth": "2",
    "context": "32",
    "position": "rope(theta: 10_000)",
    "mask": "causal",
    "norm": "rms(eps: 1e-5)",
    "attention": "attention(heads: 2)",
    "ffn": "mlp(hidden: 64, activation: gelu)",
    "block": "pre_norm",
    "head": "lm(tied: true)",
}
_FAMILY = _MODEL | {
    "dim": "config.hidden_size",
    "position": "rope_of(config)",
    "ffn": "mlp(hidden: 64, activation: activation(config.hidden_act))",
}
_SAMPLE = {"hidden_size": "16", "hidden_act": '"gelu"', "rope_theta": "10_000.0"}


def spec(*more: str, above: str = "", **fields: str | None) -> str:
    """A model that is right but for what is given: `fields` in place of its own (None leaves one out), then more statements."""
    return _file("model m", _MODEL | fields, more, above)


def image(**fields: str | None) -> str:
    """The same for a model that reads images."""
    looks = {"input": "image(size: 8, channels: 3, patch: 4)", "embed": "patches()", "mask": "bidirectional", "head": "hidden"}
    return _file("model m", _MODEL | {"vocab": None, "context": None, "position": None} | looks | fields, (), "")


def family(*more: str, config: dict[str, str | None] | None = None, **fields: str | None) -> str:
    """The same for a family, whose sample config holds `config` over the usual settings."""
    sample = ", ".join(f"{name}: {value}" for name, value in (_SAMPLE | (config or {})).items() if value)
    return _file("model m(config)", _FAMILY | {"sample": f"record({sample})"} | fields, more, "")


def layers(*sections: str, layers: str, **fields: str | None) -> str:
    """A model of several kinds of layer."""
    return spec(*sections, f"layers = {layers}", **fields)


def rows(statements: list[str]) -> list[str]:
    """Many short statements, ten to a line."""
    return ["  ".join(statements[n : n + 10]) for n in range(0, len(statements), 10)]


def _file(head: str, fields: dict[str, str | None], more: tuple[str, ...], above: str) -> str:
    width = max(len(name) for name, value in fields.items() if value is not None)
    body = [f"  {name:{width}} = {value}\n" for name, value in fields.items() if value is not None]
    body += [f"  {line}\n" for statement in more for line in statement.split("\n")]
    return f"{above}{head} {{\n{''.join(body)}}}\n"
