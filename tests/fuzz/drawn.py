"""Random valid specs over every axis, as text: small sizes, and no choice that makes the numbers themselves ill-conditioned."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

CONTEXT = 24  # tokens that every drawn model has positions for
ACTIVATIONS = ["relu", "silu", "gelu", "gelu_tanh", "quick_gelu", "relu2", "tanh", "swish(1.5)", "swish(-0.4)"]
PRESETS = {  # the norms that each one calls
    "pre_norm": ["norm.attention", "norm.ffn"],
    "post_norm": ["norm.attention", "norm.ffn"],
    "inner_norm": ["norm.attention", "norm.ffn"],
    "sandwich_norm": ["norm.attention", "norm.after_attention", "norm.ffn", "norm.after_ffn"],
    "parallel": ["norm.shared"],
    "parallel_norms": ["norm.attention", "norm.ffn"],
}
OWN_TERMS = ("disentangled", "shaw", "transformer_xl")  # position schemes that score the key of each head
FACTORS = ["0.5", "1.3", "-0.7", "residual", "1 / (layer.index + 1)", "residual / (layer.index + 2)"]


def call(name: str, **arguments: Any) -> str:
    """A constructor's text; arguments that are None stay out."""
    given = ", ".join(f"{key}: {_text(value)}" for key, value in arguments.items() if value is not None)
    return f"{name}({given})"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, list) else str(value)


@dataclass
class Spec:
    """A model under construction: what hypothesis decides, and what later choices must know of earlier ones."""

    draw: Callable[[st.SearchStrategy], Any]
    fields: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, str] = field(default_factory=dict)
    dim: int = 0
    depth: int = 0
    table_width: int = 0  # of the token table
    turned: int = 0  # channels of a head that the first kind of layer's position scheme sees
    longest: int = CONTEXT  # tokens that any call may bring
    attends: bool = True  # whether a block calls attention, so that something reads the mask

    # ---- decisions: the first choice of each is the simplest, which shrinking leads to

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def maybe(self, *choices: Any) -> Any:
        return self.one(None, *choices)

    # ---- the axes

    def norm(self, least: float = 1e-5) -> str:
        """least: a norm over few channels blows rounding up by eps^-0.5 where they happen to be alike."""
        eps = self.one(max(1e-5, least), 1e-3, 0.1)
        if self.flag():
            weight = self.maybe(True, False)
            offset = None if weight is False else self.maybe(1, 0.5)
            return call("layer", eps=eps, weight=weight, bias=self.maybe(True, False), offset=offset)
        weight = self.maybe(True, False)
        return call("rms", eps=eps, weight=weight, offset=None if weight is False else self.maybe(1, 0.5))

    def scaling(self, width: int) -> str | None:
        original, factor = self.one(8, 4, 16, None), self.one(2, 1, 4.5, 0.5)
        dynamic = ("dynamic",) if width > 2 else ()
        match self.maybe("linear", *dynamic, "llama3", "longrope", "proportional", "yarn"):
            case "linear":
                return f"linear({factor})"
            case "dynamic":
                return call("dynamic", factor=factor, original=original)
            case "llama3":
                low = self.one(1, 0.5, 2)
                return call("llama3", factor=factor, low=low, high=low * self.one(4, 2, 1), original=original)
            case "longrope":
                lists = ([self.one(1, 1.5, 2, 4) for _ in range(width // 2)] for _ in range(2))
                short, long = lists
                more = {"factor": self.maybe(1, 3), "attention_factor": self.maybe(1.2)}
                return call("longrope", short=short, long=long, original=original or 6, **more)
            case "proportional":
                return call("proportional", share=self.one(0.5, 1, 0.25, 0.1), factor=self.maybe(2))
            case "yarn":
                more: dict[str, Any] = {"attention_factor": self.maybe(1.3)}
                if self.flag():
                    more = {"mscale": self.one(1, 0.7), "mscale_all_dim": self.one(1, 0.5)}
                turns = {"beta_fast": self.maybe(4, 1.5), "beta_slow": self.maybe(0.5), "truncate": self.maybe(False)}
                return call("yarn", factor=factor, original=original, **turns, **more)

    def position(self, turned: int) -> str:
        turning = ("rope", "stored_rope") if turned % 2 == 0 else ()
        match self.one("none", *turning[:1], "alibi", *turning[1:], "relative_bias", "disentangled", "shaw", "transformer_xl"):
            case "rope":
                partial = self.one(None, *range(2, turned + 1, 2))
                layout = self.maybe("half", "interleaved")
                theta = self.maybe(100, 10_000.0, 2, 500_000)
                return call("rope", theta=theta, layout=layout, partial=partial, backward=self.maybe(True), scaling=self.scaling(partial or turned))
            case "alibi":
                return call("alibi", bias_max=self.maybe(8, 3.5)) if self.flag() else "alibi"
            case "stored_rope":
                return call("stored_rope", length=self.longest + self.one(0, 3), layout=self.one("half", "interleaved"))
            case "relative_bias":
                form = {"buckets": self.one(8, 4, 12), "max_distance": self.one(12, 9, 30), "bidirectional": self.flag()}
                return call("relative_bias", **form, shared=self.maybe(False, True))
            case "shaw":
                return call("shaw", max_distance=self.one(4, 1, 30), of=self.maybe(["k"], ["q", "k"]))
            case "transformer_xl":
                return call("transformer_xl", theta=self.maybe(50), furthest=self.maybe(3, 40))
            case "disentangled":
                form = {"max_distance": self.one(6, 12, 40), "buckets": self.maybe(4, 8), "own_maps": self.maybe(False, True)}
                norm = self.norm(1e-3) if self.flag() else None
                return call("disentangled", **form, terms=self.maybe(["c2p"], ["p2c"], ["p2c", "c2p"]), norm=norm)
        return "none"

    def scale(self, width: str) -> str | None:
        return self.maybe(f"{width} ** -0.5", f"0.7 * {width} ** -0.5", f"{width} ** -0.5 / (layer.index + 1)", 0.2)

    def attention(self, turned: int, position: str = "none") -> str:
        own_terms = any(kind in position for kind in OWN_TERMS) or "shared: false" in position  # terms of each layer's own, which not every attention takes
        if self.one(False, False, False, True) and turned % 2 == 0 and not own_terms:
            nope = self.one(4, 3, 6)
            return call(
                "mla",
                heads=self.one(2, 1, 3),
                q_rank=self.maybe(6, 9),
                kv_rank=self.one(6, 5),
                nope_dim=nope,
                rope_dim=turned,
                value_dim=self.one(4, nope + turned, 5, nope),
                latent_norm=self.norm(1e-3),
                bias=self.maybe(True, False),
                cache=self.maybe("latent"),
                scale=self.scale("(nope_dim + rope_dim)"),
            )
        if self.one(False, False, False, False, True) and not own_terms:
            pairs = self.one(1, 2)
            return call(
                "differential",
                heads=2 * pairs * self.one(1, 2),
                kv_heads=2 * pairs,
                head_dim=turned,
                bias=self.maybe(True, ["o"]),
                lambda_init=self.one(0.2, 0.7),
                head_norm=self.norm(1e-3),
                scale=self.scale("head_dim"),
            )
        kv = self.one(1, 2, 3)
        heads = kv * (1 if any(kind in position for kind in OWN_TERMS) else self.one(1, 2, 3))
        qk_norm = self.norm(1e-3) if self.flag() else None
        gate = self.maybe("channel", "head")
        return call(
            "attention",
            heads=heads,
            kv_heads=None if kv == heads and self.flag() else kv,
            head_dim=None if heads * turned == self.dim and self.flag() else turned,
            bias=self.maybe(True, ["q", "k", "v"], ["o"], ["q"], ["k", "v"], False, ["gate", "o"] if gate else None),
            scale=self.scale("head_dim"),
            softcap=self.maybe(5, 1.5, 30),
            clip=self.maybe(2, 0.6),
            qk_norm=qk_norm,
            qk_norm_over=self.maybe("head", "each_head", "width") if qk_norm else None,
            qk_norm_at=self.maybe("after_position", "before_position") if qk_norm else None,
            temperature=self.maybe(self.temperature()),
            gate=gate,
            sinks=self.maybe(True, False),
        )

    def temperature(self) -> str:
        form = {"first": self.maybe(1), "of": self.maybe("columns", "positions")}
        return call("logarithmic", scale=self.one(0.5, 1, -0.2), every=self.one(3, 1, 8), **form)

    def network(self) -> str:
        hidden, activation, bias = self.one(8, 5, 13), self.one(*ACTIVATIONS, "xielu"), self.maybe(True, False)
        if self.flag():
            return call("gated", hidden=hidden, activation=activation, bias=bias, clamp=self.maybe(3, 0.8), up_offset=self.maybe(1, 0.5))
        return call("mlp", hidden=hidden, activation=activation, bias=bias)

    def router(self, groups: int, size: int, top_k: int) -> str:
        losses = {"z_loss": self.maybe(0.001), "jitter": self.maybe(0.1)}  # of training: without effect here
        if losses["jitter"]:
            losses["jitter_at"] = self.maybe("layer")
        if top_k < groups * size and self.one(False, False, True):
            return call("expert_choice", **losses)
        losses["load_balance"] = self.maybe(0.02)
        if top_k == 1 and self.flag():
            return call("switch", capacity=self.one(2, 1, 3, 50), bias=self.maybe(True, False), **losses)
        if top_k == 2 and self.flag():
            return call("sparsemixer", margin=self.maybe(0.1, 0.0, 0.5), **losses)
        return self.top_k_router(groups, size, top_k, losses)

    def top_k_router(self, groups: int, size: int, top_k: int, more: dict[str, Any]) -> str:
        kind = self.one("softmax", "sigmoid")
        order = self.maybe("softmax_first", "top_k_first") if kind == "softmax" else None
        normalize = self.maybe(True, False)
        if order != "top_k_first":
            more["bias_correction"] = self.maybe(True, False)
            if groups > 1:
                staying = self.one(*range(-(-top_k // size), groups + 1))
                more |= {"groups": groups, "top_groups": staying, "group_score": self.maybe("max", "top_2_sum" if size > 1 else None)}
        return call(
            kind,
            order=order,
            weight_on=self.maybe("output", "input"),
            bias=self.maybe(True, False),
            normalize=normalize,
            normalize_eps=self.maybe(1e-20, 0.1) if normalize else None,
            normalize_min=self.maybe(0.9, 1e-12) if normalize else None,
            scale=self.maybe(2.5, 0.5),
            **more,
        )

    def experts(self) -> str:
        groups, size = self.one(1, 2, 3), self.one(2, 1, 3)
        top_k = self.one(*range(1, min(groups * size, 4) + 1))
        shared = self.network() if self.flag() else None
        return call(
            "moe",
            experts=groups * size,
            top_k=top_k,
            expert=self.network(),
            router=self.router(groups, size, top_k),
            shared=shared,
            shared_gate=self.maybe(True, False) if shared else None,
        )

    def ffn(self) -> str:
        return self.experts() if self.one(False, False, True) else self.network()

    def mask(self, causal: bool) -> str:
        if self.attends and self.one(False, False, False, False, True):
            return f"documents({self.mask(causal)})"
        if causal:
            sliding = ("sliding(3)", "sliding(1)", "sliding(7)", "sliding(3, keep_first: 2)")
            return self.one("causal", *sliding, "chunked(4)", "window(4, 0)", "prefix")
        return self.one("bidirectional", "bidirectional", "causal", "sliding(4)", "window(3, 2)", "window(0, 5)", "chunked(5)", "with_global(window(1, 2))")

    # ---- wiring

    def factor(self) -> str:
        chosen = self.maybe(*FACTORS)
        if chosen and "residual" in chosen:
            self.fields["residual"] = self.one("0.3", "2", "dim ** -0.5")
        return f"{chosen} * " if chosen else ""

    def own_block(self, name: str) -> list[str]:
        """A block of sublayers in any order and number; the labels of its norms."""
        labels: list[str] = []
        lines, sources, final = [], ["x"], self.maybe("norm", "none", "norm")

        def normed(text: str, always: bool = False) -> str:
            if not always and not self.flag():
                return text
            label = self.one(f"norm.n{len(labels)}", *labels, "norm")
            labels.append(label)
            return f"{label}({text})"

        def branch() -> str:
            sublayer = self.one("attention", "ffn", "attention.second", "ffn.second")
            return f"{self.factor()}{normed(f'{sublayer}({normed(self.one(*sources), self.one(True, True, False))})')}"

        if self.flag():
            lines.append(f"h = {normed('x', True)}")
            sources.append("h")
        for _ in range(self.one(1, 2, 3)):
            total = " + ".join([f"{self.factor()}{self.one('x', *sources)}", *(branch() for _ in range(self.one(1, 2)))])
            target = self.one("x", "x", *sources)
            lines.append(f"{target} = {normed(total)}")
        if not any(line.startswith("x =") for line in lines):
            lines.append(f"x = x + {branch()}")
        if final:
            lines.insert(0, f"final_norm = {final}")
        elif "final_norm" not in self.fields:
            self.fields["final_norm"] = self.one("norm", "none", self.norm())
        self.blocks[name] = "\n  ".join(lines)
        return [label for label in dict.fromkeys(labels) if "." in label]

    def block(self, name: str) -> tuple[str, list[str]]:
        if self.one(False, False, True):
            return name, self.own_block(name)
        preset = self.one(*PRESETS)
        return preset, PRESETS[preset]

    # ---- the ends

    def term(self) -> str:
        """A source beside the tokens."""
        offset = self.maybe(2, 1)
        match self.one("learned_position", "sinusoidal_position", "segments"):
            case "learned_position":
                return call("learned_position", offset=offset, length=self.maybe(CONTEXT + 3))
            case "sinusoidal_position":
                form = {"theta": self.maybe(50), "layout": self.maybe("half", "interleaved"), "inclusive": self.maybe(True, False)}
                return call("sinusoidal_position", offset=offset, **form)
        return f"segments({self.one(2, 1, 3)})"

    def embed(self, whole: bool) -> str:
        """whole: whether rows are read at once, and not step by step."""
        self.table_width = self.one(self.dim, self.dim, 6)
        narrow = self.table_width != self.dim
        text = call("tokens", width=self.table_width if narrow else self.maybe(self.dim), scale=self.maybe("sqrt(dim)", 0.5))
        if whole and self.fields["vocab"] != "11" and self.one(False, False, False, True):  # in small tables a row might be nothing else
            text = call("mask_dropout", share=self.one(0.12, 0.4), token=3).replace("(", f"({text}, ", 1)
        if self.one(False, False, True):
            text = f"norm.table({text})"
        if narrow:
            text = self.projected(text)
        elif self.one(False, False, False, True):
            text += f" + {self.projected(call('sinusoidal_position', width=self.one(6, 2, 4)))}"
        for _ in range(self.one(0, 1, 2)):
            term = self.term()
            if term.partition("(")[0] not in text:  # each source once
                text += f" + {self.one('0.5', '2')} * {term}" if self.flag() else f" + {term}"
        return f"norm.embed({text})" if self.one(False, False, True) else text

    def projected(self, text: str) -> str:
        return f"project({text}, bias: true)" if self.flag() else f"project({text})"

    def head(self) -> str:
        tied = self.flag()
        narrow = self.table_width if tied and self.table_width != self.dim else None
        match self.one("hidden", "lm", "mlm", "pooled", "classify", "classify_tokens", "span", "sentence_order", "replaced_tokens"):
            case "lm":
                more = {"scale": self.maybe(0.5, "dim ** -0.5"), "softcap": self.maybe(5), "bias": self.maybe(True, False)}
                return call("lm", tied=tied, width=narrow if tied else self.maybe(5), **more)
            case "mlm":
                more = {"dense_bias": self.maybe(False, True), "bias": self.maybe(False, True)}
                width = narrow if tied else self.maybe(5)
                return call("mlm", tied=tied, activation=self.one(*ACTIVATIONS), norm=self.norm(), width=width, **more)
            case "pooled":
                return f"pooled({self.one('mean', 'first', 'tanh_first')})"
            case "classify":
                more = {"pool": self.one("first", "last", "mean"), "activation": self.maybe(*ACTIVATIONS), "bias": self.maybe(True, False)}
                return call("classify", classes=self.one(3, 1), **more, **self.transformed(more["activation"]))
            case "classify_tokens":
                activation = self.maybe(*ACTIVATIONS)
                form = {"activation": activation} | self.transformed(activation)
                return call("classify_tokens", classes=self.one(3, 1), bias=self.maybe(True, False), **form)
            case "span":
                return call("span", bias=self.maybe(True, False), activation=(activation := self.maybe(*ACTIVATIONS)), **self.transformed(activation))
            case "sentence_order":
                return call("sentence_order", classes=self.maybe(3))
            case "replaced_tokens":
                return call("replaced_tokens", activation=self.one(*ACTIVATIONS))
        return "hidden"

    def transformed(self, activation: str | None) -> dict[str, Any]:
        """What a head's own layer may have, where it has one."""
        return {"dense_bias": self.maybe(False), "dense_norm": self.norm() if self.flag() else None} if activation else {}

    def heads(self) -> str:
        """One head, or two that give different outputs."""
        first = self.head()
        states = any(kind in first for kind in ("hidden", "pooled", "probed", "image_embedding"))  # these give the last hidden state
        others = [kind for kind in ("span", "sentence_order", "hidden") if kind not in first and not (kind == "hidden" and states)]
        return f"[{first}, {self.one(*others)}]" if self.one(False, False, False, True) else first

    # ---- the whole

    def kind(self, causal: bool) -> dict[str, str]:
        """Everything that may differ from layer to layer."""
        turned = self.one(4, 6, 2, 8, 3, 5)
        self.turned = self.turned or turned
        parts = {"position": self.position(turned), "mask": self.mask(causal), "norm": self.norm()}
        return parts | {"attention": self.attention(turned, parts["position"]), "ffn": self.ffn()}

    def is_causal(self) -> bool:
        return self.one(True, True, False)

    def sizes(self) -> dict[str, str]:
        return {"vocab": str(self.one(19, 11, 40)), "dim": str(self.dim), "depth": str(self.depth), "context": str(CONTEXT)}

    def text(self) -> str:
        self.dim, self.depth = self.one(8, 12, 16, 18), self.one(1, 2, 3)
        causal = self.is_causal()
        block, labels = self.block("own")
        self.attends = "attention" in self.blocks.get("own", "attention")
        first = self.kind(causal)
        self.fields |= self.sizes()
        self.fields |= {"embed": self.embed(not causal and any(f"{kind}(" in f"{first['mask']}(" for kind in ("bidirectional", "window"))), **first, "block": block, "head": self.heads()}
        if block == "own" and self.flag():
            self.labelled(labels)
        if self.one(False, False, True):
            self.fields["final_norm"] = self.one("norm", "none", self.norm())
        if self.one(False, False, False, True):
            self.fields |= {"dropout": "0.1", "attention_dropout": "0.2"}
        sections = self.layers(causal, labels) if self.flag() else self.one_set()
        body = "\n".join(f"  {name} = {value}" for name, value in self.fields.items())
        blocks = "".join(f"block {name}(x) {{\n  {text}\n}}\n" for name, text in self.blocks.items())
        return f"{blocks}model fuzz {{\n{body}\n{sections}}}\n"

    def labelled(self, labels: list[str]) -> None:
        """A field for one instance alone."""
        position = self.fields["position"]
        per_head = any(kind in position for kind in ("alibi", "relative_bias", "grid_bias", *OWN_TERMS))  # these want as many heads
        if "attention.second(" in self.blocks["own"] and not per_head:
            plain = position == "none" or position == "rope"  # else a scheme was drawn for heads of this width
            self.fields["attention.second"] = self.attention(self.one(self.turned, 4, 6) if plain else self.turned)
        if "ffn.second(" in self.blocks["own"]:
            self.fields["ffn.second"] = self.network()
        if labels:
            self.fields[labels[0]] = self.norm()

    def one_set(self) -> str:
        """Layers that share their weights: those are alike, so nothing may depend on their number."""
        if "layer.index" in f"{self.fields} {self.blocks}" or not self.one(False, False, False, True):
            return ""
        return f"  layer one {{ }}\n  layers = {self.one('[repeat [same(one)]]', '[one, repeat [same(one)]]')}\n"

    def layers(self, causal: bool, labels: list[str]) -> str:
        """Two kinds of layer and where they stand."""
        if self.depth == 1:
            return ""
        other = self.kind(causal)
        wanted = {name for name in other if self.flag()}
        if wanted & {"attention", "position"}:
            wanted |= {"attention", "position"}  # a position scheme suits the heads it was drawn for
        if "attention.second" in self.fields:
            wanted -= {"attention", "position"}
        own = self.fields["block"] == "own"
        if own:
            wanted -= {name for name in ("attention", "ffn") if not re.search(rf"\b{name}(\.second)?\(", self.blocks["own"])}
        section = [f"{name} = {value}" for name, value in other.items() if name in wanted]
        if labels and self.one(False, False, True):
            section.append(f"{self.one(*labels)} = none")
        elif not own and self.one(False, False, True):
            section.append(f"block = {self.one('pre_norm', 'post_norm', 'parallel')}")
        turns = ("repeat [p, q]", "[p, repeat [q, p]]", "[for i in range(depth): if i % 2 == 0 then q else p]", "repeat [2 * p, q]")
        where = self.one(*turns) if self.depth > 2 else "repeat [q, p]"
        if "layer.index" not in f"{self.fields} {self.blocks} {section}" and self.one(False, False, True):
            where = self.one("repeat [same(p), same(q)]", "[q, repeat [same(p)]]", "[p, repeat [same(q), same(p)]]")
        return f"  layer p {{ }}\n  layer q {{ {'  '.join(section)} }}\n  layers = {where}\n"


@st.composite
def specs(draw: Callable) -> str:
    """The text of a spec with one model, `fuzz`: of texts, of texts and what is written of them, or of images."""
    from tests.fuzz.pictures import Pictures
    from tests.fuzz.stacks import Stacks

    return draw(st.sampled_from([Spec, Spec, Spec, Stacks, Pictures]))(draw).text()
