"""What a model costs: parameters, FLOPs, cache and weight bytes. Exact, by counting, never an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from specc.ir.model import Model, Stack

BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "int4": 0.5}


@dataclass(frozen=True)
class Costs:
    """Every figure of one model. FLOPs count a multiply-add as two and leave out norms, softmax and elementwise work."""

    model: Model

    @cached_property
    def parameters(self) -> int:
        """Learned values, a tied or shared tensor once."""
        return sum(p.size for p in self.model.parameters().values() if p.role != "fixed")

    @cached_property
    def active(self) -> int:
        """Learned values that take part in the computation of one token."""
        return self.parameters

    @cached_property
    def by_part(self) -> dict[str, int]:
        """Learned values of the embedding, the attention, feed-forward and norm sublayers, and the head."""
        parts: dict[str, int] = {}
        for key, component, dims in self.model.places():
            size = sum(p.size for p in component.parameters(dims) if p.role != "fixed")
            place = "final norm" if key.endswith("final_norm") else "embedding" if component.axis == "embed" else component.axis
            parts[place] = parts.get(place, 0) + size
        return {place: size for place, size in parts.items() if size}

    def flops(self, context: int) -> int:
        """FLOPs of one token's forward pass that attends to `context` keys, or to as many as its masks let it see."""
        return sum(self._stack_flops(stack, context) for stack in self.model.stacks) + self._head_flops(context)

    def _stack_flops(self, stack: Stack, context: int) -> int:
        total = sum(i.component.flops(i.dims(stack.dims), context) for i in stack.embedding.instances)
        for layer in stack.layers:
            seen = min(context, layer.mask.reach or context)
            total += sum(i.component.flops(i.dims(stack.dims), seen) for i in layer.instances)
        return total

    def _head_flops(self, context: int) -> int:
        return sum(h.component.flops(h.dims(self.model.stack.dims), context) for h in self.model.heads)

    def kv_cache(self, tokens: int, dtype: str = "bf16") -> int:
        """Bytes of everything kept for one sequence of `tokens` tokens; 0 where nothing is kept."""
        stack = self.model.stack
        if not stack.causal:
            return 0
        values = 0
        for layer in stack.layers:
            for part in layer.instances:
                for state in part.component.state(stack.dims):
                    count = 1
                    for extent in state.shape:
                        count *= {"B": 1, "S": tokens}.get(extent, extent)
                    values += count
        return round(values * BYTES[dtype])

    def weight_bytes(self, dtype: str) -> int:
        return round(self.parameters * BYTES[dtype])

    def training_flops(self, tokens: int) -> tuple[int, int]:
        """FLOPs to train on `tokens` tokens: 6ND, and exactly (forward and twice that backward, mean context of a full window)."""
        context = self.model.stack.dims.context or 0
        mean = (context + 1) // 2 if self.model.stack.causal else context
        return 6 * self.parameters * tokens, 3 * self.flops(mean) * tokens

    @property
    def optimal_tokens(self) -> int:
        """Tokens for compute-optimal training, 20 per parameter (Hoffmann et al., 2022, https://arxiv.org/abs/2203.15556)."""
        return 20 * self.parameters
