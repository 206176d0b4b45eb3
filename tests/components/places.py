"""Everywhere that a norm or an activation may stand: a field of theirs is probed in each place."""

from __future__ import annotations

from tests.components.probe import Case, Draw, Probe, plain_kinds, spec

SMALL = 1e-3


def norm_places(before: str, after: str, small: bool = False) -> tuple[Probe, ...]:
    """One probe per place of a norm. `small`: what feeds it is drawn around 1e-3, so that eps shows."""
    plain, overs = "rms(eps: 1e-5)", ("head", "each_head", "width")
    stream = {"embed_tokens.*": SMALL, "*.o.*": SMALL, "*.down.*": SMALL}
    places = [
        (lambda norm: spec(norm=norm, final_norm=plain), stream),
        (lambda norm: spec(final_norm=norm), stream),
        (lambda norm: spec(embed="norm.embed(tokens())", **{"norm.embed": norm}), {"embed_tokens.*": SMALL}),
        (lambda norm: spec(mask="bidirectional", head=f"mlm(tied: false, activation: tanh, norm: {norm})"), {"head.dense.*": SMALL}),
    ]
    places.append((lambda norm: spec(attention=_latent(norm)), {"*.q_down.*": SMALL, "*.kv_down.*": SMALL}))
    places += [(lambda norm, over=over: spec(attention=_attention(norm, over)), {"*.q.*": SMALL, "*.k.*": SMALL}) for over in overs]
    return tuple(Probe(text(before), text(after), Draw(factors if small else {})) for text, factors in places)


def _attention(norm: str, over: str) -> str:
    over = "" if over == "head" else f", qk_norm_over: {over}"  # the default
    return f"attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: {norm}{over})"


def _latent(norm: str) -> str:
    return f"mla(heads: 3, q_rank: 7, kv_rank: 6, nope_dim: 4, rope_dim: 6, value_dim: 5, latent_norm: {norm})"


def activation_cases(kind: str, shift: float = -1) -> tuple[Case, ...]:
    """The kind in each place of an activation, against every other kind in the same place.

    `shift` is added to what comes in: to where the kind differs most from its likes relative to its own size. The norm after
    the feed-forward network makes what comes out as large as the rest, and nothing is added to it before that.
    """
    others = [other for other in plain_kinds("activation") if other != kind]
    places = (
        (lambda a: spec(block="inner_norm", ffn=f"mlp(hidden: 20, activation: {a}, bias: true)"), "*.up.bias"),
        (lambda a: spec(block="inner_norm", ffn=f"gated(hidden: 20, activation: {a}, bias: true)"), "*.gate.bias"),
        (lambda a: spec(mask="bidirectional", head=f"mlm(tied: false, activation: {a}, norm: layer(eps: 1e-12))"), "head.dense.bias"),
        (lambda a: spec(head=f"classify(3, pool: mean, activation: {a}, bias: false)"), "head.dense.bias"),
    )
    return tuple(Case(text(kind), tuple(text(other) for other in others), Draw({"*.down.bias": 0}, {key: shift})) for text, key in places)


def scaled(scaling: str, theta: int = 100, **fields: object) -> str:
    """A rope of four pairs with this scaling; the twelve tokens of a batch reach past a trained context of less."""
    return spec(position=f"rope(theta: {theta}, scaling: {scaling})", attention="attention(heads: 4, kv_heads: 2, head_dim: 8)", **fields)
