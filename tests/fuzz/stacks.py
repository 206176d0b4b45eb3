"""Random encoder-decoders: two stacks that share what the model says, each with its own masks, positions and perhaps sizes."""

from __future__ import annotations

from typing import Any

from tests.fuzz.drawn import CONTEXT, Spec, call

CROSSED = """final_norm = {final}
  {first}
  x = {factor}x + {crossed}
  x = x + {last}"""


class Stacks(Spec):
    """What takes other inputs than tokens stays out, and heads that read a whole target."""

    def text(self) -> str:
        self.dim = self.one(8, 12, 16)
        self.fields = {"vocab": self.one("19", "40"), "dim": str(self.dim), "context": str(CONTEXT), "norm": self.norm(), "ffn": self.ffn()}
        narrow = self.one(False, False, True)
        if narrow or self.one(False, False, True):
            self.fields["shared_tokens"] = "false"
        self.fields["embed"] = self.formula()
        tied = self.flag()
        self.fields["head"] = self.one(
            "hidden", call("lm", tied=tied, scale=self.maybe(0.5), bias=self.maybe(True, False)), call("lm", tied=tied, fixed_bias=True)
        )
        wide, self.dim = self.dim, 10 if narrow else self.dim
        encoder = self.stack(causal=False) | ({"dim": "10"} if narrow else {})
        self.dim = wide
        decoder = self.stack(causal=True) | {"cross": self.across()}
        encoder["block"] = self.one("pre_norm", "post_norm", "sandwich_norm", "parallel")
        decoder["block"] = self.crossed()
        sections = "".join(
            f"  {name} {{ {'  '.join(f'{n} = {v}' for n, v in fields.items())} }}\n"
            for name, fields in (("encoder", encoder), ("decoder", decoder))
        )
        body = "\n".join(f"  {name} = {value}" for name, value in self.fields.items())
        blocks = "".join(f"block {name}(x, memory) {{\n  {text}\n}}\n" for name, text in self.blocks.items())
        return f"{blocks}model fuzz {{\n{body}\n{sections}}}\n"

    def formula(self) -> str:
        text = call("tokens", scale=self.maybe("sqrt(dim)", 0.5))
        if self.flag():
            more = {
                "theta": self.maybe(50),
                "layout": self.maybe("half", "interleaved"),
                "inclusive": self.maybe(True),
                "rows": self.maybe(CONTEXT + 3),
            }
            text += self.one(
                " + learned_position(offset: 2)",
                f" + {call('sinusoidal_position', offset=self.maybe(2), **more)}",
                " + 0.5 * learned_position()",
            )
        return f"norm.embed({text})" if self.flag() else text

    def stack(self, causal: bool) -> dict[str, str]:
        """The fields of a section."""
        turned = self.one(4, 6, 2)
        position = self.position(turned)
        found = {
            "depth": str(self.one(1, 2, 3)),
            "position": position,
            "mask": self.plain_mask(causal),
            "attention": self.attention(turned, position),
        }
        return (
            found
            | ({"ffn": self.ffn()} if self.one(False, False, True) else {})
            | ({"norm": self.norm()} if self.one(False, False, True) else {})
        )

    def plain_mask(self, causal: bool) -> str:
        if causal:
            return self.one("causal", "sliding(3)", "sliding(3, keep_first: 2)", "chunked(4)")
        return self.one("bidirectional", "window(3, 2)", "causal", "chunked(5)")

    def across(self) -> str:
        kv, gate = self.one(1, 2), self.maybe("channel", "head")
        more: dict[str, Any] = {"softcap": self.maybe(5, 1.5), "clip": self.maybe(2, 0.6), "gate": gate}
        if self.flag():
            more |= {
                "qk_norm": self.norm(1e-3),
                "qk_norm_over": self.maybe("head", "each_head", "width"),
                "qk_norm_at": self.maybe("after_position"),
            }
        bias = self.maybe(True, ["q", "v"], ["o"], ["k"])
        return call(
            "attention", heads=kv * self.one(1, 3), kv_heads=kv, head_dim=self.one(4, 5), bias=bias, scale=self.maybe(0.3, 1), **more
        )

    def crossed(self) -> str:
        if self.one(False, False, True):
            first = self.one("x = x + attention(norm.a(x))", "x = norm.a(x + attention(x))", "h = attention(norm.a(x))\n  x = x + h")
            crossed = self.one(
                "cross(norm.b(x), memory)", "norm.b(cross(x, memory))", "0.5 * cross.one(norm.b(x), memory) + cross.two(x, memory)"
            )
            last = self.one("ffn(norm.c(x))", "0.3 * ffn(x)")
            self.blocks["own"] = CROSSED.format(
                final=self.one("norm", "none"), first=first, factor=self.one("", "0.5 * "), crossed=crossed, last=last
            )
            return "own"
        return self.one("pre_norm_cross", "post_norm_cross")
