"""What training adds to the model's class: labels and a loss, the routers' losses, and how weights are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View
from specc.ir.model import Model


@dataclass(slots=True)
class TrainingText:
    """The pieces by where they stand. To be asked once the sublayers are printed."""

    model: Model
    page: Page

    def _view(self, name: str) -> View | None:
        component = getattr(self.model.training, name)
        return None if component is None else View(self.page, (component,), Owner(), self.model.stack.dims)

    @property
    def drawn(self) -> list[str]:
        """The line at the end of `__init__`; it needs a function of its own."""
        view = self._view("init")
        if view is None:
            return []
        self.page.define("init", view.macro("definition", " | ".join(self.page.matrix_norms)))
        return [view.macro("apply", "self").strip()]

    @property
    def arguments(self) -> list[str]:
        return ["labels: Tensor | None = None"] * bool(self.model.training.objective)

    @property
    def about(self) -> list[str]:
        objective = self.model.training.objective
        return [f"labels {objective.labels}"] if objective else []

    @property
    def prepared(self) -> list[str]:
        """At the beginning of `forward`."""
        view = self._view("objective")
        return view.lines("prepared") if view else []

    @property
    def two_lines(self) -> list[str]:
        """At the end of an encoder-decoder's `forward`."""
        found, view = [], self._view("objective")
        if self.page.losses:
            found += ["aux_loss = routers_loss(self.decoder, decoder_input_ids, decoder_attention_mask)"]
            found += ["if cache is None:", "    aux_loss = aux_loss + routers_loss(self.encoder, input_ids, attention_mask)"]
        return found + ([self._loss(view)] if view else [])

    @property
    def lines(self) -> list[str]:
        """At the end of `forward`."""
        tokens = "input_ids" if self.model.stack.padded else "x"
        found, view = [], self._view("objective")
        if self.page.losses:
            every = "torch.ones_like(input_ids)" if tokens == "input_ids" else "x.new_ones(x.shape[:2])"
            masked = f"{every} if attention_mask is None else attention_mask[:, -input_ids.shape[1] :]"
            found.append(f"real = {masked if tokens == 'input_ids' else every}")
            kinds = " | ".join(self.page.losses)
            found.append(f"aux_loss = sum(part.loss(real.flatten() == 1) for part in self.modules() if isinstance(part, {kinds}))")
        if view:
            found.append(self._loss(view))
        return found

    def _loss(self, view: View) -> str:
        return f"loss = None if labels is None else {view.apply()}{' + aux_loss' * bool(self.page.losses)}"

    @property
    def fields(self) -> list[str]:
        """Of Output."""
        return ["aux_loss: Tensor  # what the routers add to the loss"] * bool(self.page.losses) + self.loss * ["loss: Tensor | None"]

    @property
    def results(self) -> list[str]:
        return ["aux_loss"] * bool(self.page.losses) + self.loss * ["loss"]

    @property
    def loss(self) -> bool:
        return self.model.training.objective is not None
