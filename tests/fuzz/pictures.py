"""Random valid specs of models that read images: their own embeddings, positions, masks and heads, and everything else as texts have it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.drawn import ACTIVATIONS, Spec, call


@dataclass
class Pictures(Spec):
    """As `Spec`, of images of a few patches."""

    formula: str = ""
    leading: int = 0  # tokens in front of the patches
    longest: int = 40

    def is_causal(self) -> bool:
        return False

    def sizes(self) -> dict[str, str]:
        size, patch = self.one([8, 8], [8, 12], [12, 6]), self.one(4, 2, [2, 3])
        image = call("image", size=size, channels=self.one(3, 1), patch=patch)
        return {"dim": str(self.dim), "depth": str(self.depth), "input": image}

    def embed(self, whole: bool = True) -> str:
        """Decided when first asked for: a bias over the grid knows one token in front of the patches."""
        if self.formula:
            return self.formula
        names = [name for name in ("class_token()", "distillation_token()", "registers(3)") if self.one(True, False)]
        counts = {"registers(3)": 3}
        self.leading = sum(counts.get(name, 1) for name in names)
        patches = call("patches", bias=self.maybe(True, False), mask_token=self.maybe(True))
        narrow = self.one(False, False, True)
        if narrow:
            patches = self.projected(call("patches", width=6))
        scale = self.one("", "", "0.5 * ")
        text = f"concat({', '.join([*names, scale + patches])})" if names else scale + patches
        if self.one(True, True, False):
            text += f" + {call('learned_position', antialias=self.maybe(True, False))}"
        if "registers(3)" not in text and self.one(False, False, True):
            at = self.one(*range(self.leading + 1))
            text = f"insert({call('registers', count=2)}, at: {at}, into: {text})"
            self.leading += 2
        self.formula = f"norm.embed({text})" if self.one(False, False, True) else text
        return self.formula

    def position(self, turned: int) -> str:
        self.embed()
        if self.leading == 1 and self.one(False, True):
            return call("grid_bias", shared=self.maybe(True, False), grid=self.maybe([3, 4]))
        return super().position(turned)

    def router(self, groups: int, size: int, top_k: int) -> str:
        """Experts that choose tokens would have to choose among class tokens that are equal in all images: chance decides there."""
        found = super().router(groups, size, top_k)
        return "softmax" if found.startswith("expert_choice") else found

    def attention(self, turned: int, position: str = "none") -> str:
        """Latent attention takes no term that each layer makes for itself."""
        found = super().attention(turned, position)
        return call("attention", heads=2, head_dim=turned) if "grid_bias" in position and found.startswith("mla") else found

    def mask(self, causal: bool) -> str:
        return self.one("bidirectional", "bidirectional", "window(3, 2)", "window(0, 5)")

    def head(self) -> str:
        kinds = ["hidden", "pooled", "classify", "classify_tokens", "probed", "image_embedding", *["classify_distilled"] * (self.leading > 1)]
        match self.one(*kinds):
            case "pooled":
                pool = self.one("mean", "first", "tanh_first", "mean_patches")
                return call("pooled", pool=pool, norm=self.norm() if self.flag() else None)
            case "classify":
                pool = self.one("first", "last", "mean", "mean_patches", ["first", "mean_patches"], ["mean", "last", "first"])
                more = {"norm": self.norm() if self.flag() else None, "activation": self.maybe(*ACTIVATIONS), "bias": self.maybe(True, False)}
                return call("classify", classes=self.one(3, 1), pool=pool, **more)
            case "classify_tokens":
                return call("classify_tokens", classes=self.one(3, 1), bias=self.maybe(True, False))
            case "classify_distilled":
                return call("classify_distilled", classes=self.one(3, 1), bias=self.maybe(True, False))
            case "image_embedding":
                return call("image_embedding", width=self.one(5, 8), norm=self.norm() if self.flag() else None, bias=self.maybe(True, False))
            case "probed":
                heads = self.one(*(n for n in (1, 2, 3) if self.dim % n == 0))
                return call("probed", heads=heads, hidden=self.one(6, 20), activation=self.one(*ACTIVATIONS), norm=self.norm(), bias=self.maybe(True, False))
        return "hidden"
