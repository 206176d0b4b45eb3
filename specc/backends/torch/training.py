"""What training adds to the model's class: labels and losses, the routers' losses, and how weights are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View
from specc.ir.model import Model
from specc.ir.node import Component


@dataclass(slots=True)
class TrainingText:
    """The pieces by where they stand. To be asked once the sublayers are printed."""

    model: Model
    page: Page

    def _view(self, component: Component) -> View:
        return View(self.page, (component,), Owner(), self.model.stack.dims)

    @property
    def drawn(self) -> list[str]:
        """The line at the end of `__init__`; it needs a function of its own."""
        if self.model.training.init is None:
            return []
        view = self._view(self.model.training.init)
        self.page.define("init", view.macro("definition", " | ".join(self.page.matrix_norms)))
        return [view.macro("apply", "self").strip()]

    @property
    def _targets(self) -> dict[str, Component]:
        """The objectives by the name of their labels: plain where there is one alone."""
        objectives = self.model.training.objective
        return {one.target if len(objectives) > 1 else "labels": one for one in objectives}

    @property
    def arguments(self) -> list[str]:
        return [f"{name}: Tensor | None = None" for name in self._targets]

    @property
    def about(self) -> list[str]:
        return [f"{name} {objective.labels}" for name, objective in self._targets.items()]

    @property
    def prepared(self) -> list[str]:
        """At the beginning of `forward`."""
        return [line for one in self.model.training.objective for line in self._view(one).lines("prepared")]

    @property
    def lines(self) -> list[str]:
        """At the end of `forward`."""
        found = []
        if self.page.losses:
            every = "torch.ones_like(input_ids)" if self.model.stack.padded else "x.new_ones(x.shape[:2])"
            masked = f"{every} if attention_mask is None else attention_mask[:, -input_ids.shape[1] :]"
            found.append(f"real = {masked if self.model.stack.padded else every}")
            kinds = " | ".join(self.page.losses)
            found.append(f"aux_loss = sum(part.loss(real.flatten() == 1) for part in self.modules() if isinstance(part, {kinds}))")
        return found + self._loss()

    @property
    def two_lines(self) -> list[str]:
        """At the end of an encoder-decoder's `forward`."""
        found = []
        if self.page.losses:
            found += ["aux_loss = routers_loss(self.decoder, decoder_input_ids, decoder_attention_mask)"]
            found += ["if cache is None:", "    aux_loss = aux_loss + routers_loss(self.encoder, input_ids, attention_mask)"]
        return found + self._loss()

    def _loss(self) -> list[str]:
        """One objective's loss, or the sum over those whose labels are given."""
        model, stack, texts = self.model, self.model.stack, {}
        for name, one in self._targets.items():
            texts[name] = self._view(one).apply(one.reads(model.outputs, stack.causal, stack.dims), name)
        more = " + aux_loss" * bool(self.page.losses)
        if len(texts) < 2:
            return [f"loss = None if {name} is None else {text}{more}" for name, text in texts.items()]
        lines = ["losses = []"]
        for name, text in texts.items():
            lines += [f"if {name} is not None:", f"    losses.append({text})"]
        return [*lines, f"loss = sum(losses){more} if losses else None"]

    @property
    def fields(self) -> list[str]:
        """Of Output."""
        return ["aux_loss: Tensor  # what the routers add to the loss"] * bool(self.page.losses) + ["loss: Tensor | None"] * bool(self._targets)

    @property
    def results(self) -> list[str]:
        return ["aux_loss"] * bool(self.page.losses) + ["loss"] * bool(self._targets)
