"""What the model computes once for its layers: the kinds of layer, their masks, their tables, and how the layers are made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from specc.backends.torch.blocks import Blocks
from specc.backends.torch.environment import render
from specc.backends.torch.groups import Group
from specc.backends.torch.kinds import named_kinds, order, progression
from specc.backends.torch.layers import Layers
from specc.backends.torch.numbers import literal


@dataclass
class Frame:
    """Layers are of one kind when they share class, mask and position scheme; what differs is looked up by kind."""

    layers: Layers
    blocks: Blocks
    by_kind: bool = False  # whether anything is looked up by kind
    sets_by_kind: bool = False  # whether the sets of weights are made by kind
    tuples: list[str] = field(default_factory=list)  # constants that hold a value for every layer or kind

    @cached_property
    def kinds(self) -> list[str]:
        """For each distinct layer the name of its kind. To be read once the blocks are printed."""
        layers, groups = self.layers, self.blocks.groups
        classes = {n: group.name for group in groups for n in group.places}
        keys = [(classes[n], layer.mask, layers.schemes.tables[n], layers.schemes.biases[n]) for n, layer in enumerate(layers.distinct)]
        labels = [layer.label for layer in layers.distinct]
        names = named_kinds(labels, keys)
        if len(groups) > 1 and not all(self._told_by(names, group) for group in groups):
            names = named_kinds(labels, [(key, n) for n, key in enumerate(keys)])
        return names

    @staticmethod
    def _told_by(kinds: list[str], group: Group) -> bool:
        """Whether the kind of a layer alone tells what its class is given."""
        given: dict[str, set] = {}
        for at, place in enumerate(group.places):
            given.setdefault(kinds[place], set()).add(tuple(values[at] for values in group.owner.arguments.values()))
        return all(len(found) == 1 for found in given.values())

    def constants(self) -> list[str]:
        """Those that hold more than one number."""
        kinds = [self.kinds[n] for n in self.layers.sequence]
        lines = [f"{self.layers.kinds} = {order(kinds, self.layers.count)}"] * self.by_kind + self.tuples
        if self.layers.stack.sets:
            lines.append(f"{self.layers.sets} = {order(self.layers.stack.sets, self.layers.count)}  # layers of one number share their weights")
        if self.layers.stack.sources:
            entries = order(self.layers.entries, self.layers.count)
            lines.append(f"{self.layers.function('kv_entries').upper()} = {entries}  # whose keys and values a layer reads; None: its own")
        if self.sets_by_kind:
            lines.append(f"{self.layers.set_kinds} = {order([self.kinds[n] for n in self.layers.stored], self.layers.count)}")
        return lines

    # ---- the layers

    def made(self) -> dict[str, object]:
        """How the model makes its layers: lines before, and what goes into the list."""
        groups = self.blocks.groups
        if len(groups) == 1:
            return {"lines": [], "expression": self._one_class(groups[0])}
        self.by_kind = True
        makers = {}
        for group in groups:
            for at, place in enumerate(group.places):
                given = ", ".join(f"{name}={literal(values[at])}" for name, values in group.owner.arguments.items())
                makers[self.kinds[place]] = f"lambda: {group.name}({given})" if given else group.name
        return {"lines": [f"blocks = {_table(makers)}"], "expression": f"blocks[kind]() for kind in {self._all_kinds()}"}

    def _all_kinds(self) -> str:
        """The constant that holds the kind of everything that is made."""
        if not self.layers.stack.sets:
            return self.layers.kinds
        self.sets_by_kind = True
        return self.layers.set_kinds

    def _each(self) -> str:
        """What a loop over everything that is made runs over."""
        return f"set({self.layers.sets})" if self.layers.stack.sets else f"range({self.layers.count})"

    def _one_class(self, group: Group) -> str:
        shared = bool(self.layers.stack.sets)
        if not group.owner.arguments:
            return f"{group.name}() for _ in {self._each()}"
        told = len(set(self.kinds)) > 1 and self._told_by(self.kinds, group)
        self.by_kind |= told
        texts = []
        for name, values in group.owner.arguments.items():
            if len(set(values)) == 1:
                texts.append(f"{name}={literal(values[0])}")
                continue
            constant = self.layers.function(name).upper()
            if told:
                self.tuples.append(f"{constant} = {_table(dict(zip(self.kinds, map(literal, values), strict=True)))}")
            else:
                each = [values[n] for n in self.layers.stored]
                text = order(each, self.layers.count) if shared else progression(each, self.layers.count)
                self.tuples.append(f"{constant} = {text}  # per {'set' if shared else 'layer'}")
            texts.append(f"{name}={constant}[{'kind' if told else 'i'}]")
        over = f"kind in {self._all_kinds()}" if told else f"i in {self._each()}"
        return f"{group.name}({', '.join(texts)}) for {over}"

    # ---- tables and masks

    def _per_kind(self, texts: list[str]) -> dict[str, str]:
        return {kind: texts[self.kinds.index(kind)] for kind in dict.fromkeys(self.kinds)}

    def tables(self) -> tuple[list[str], str]:
        """The lines that make the tables, and what a layer is passed of them."""
        name = self.layers.schemes.name
        texts = self._per_kind(self.layers.schemes.tables)
        if len(set(texts.values())) == 1:
            return [f"{name} = {self.layers.schemes.tables[0]}"], name
        plural = name if name.endswith("s") else f"{name}s"
        self.by_kind = True
        made: dict[str, str] = {}
        again: dict[str, str] = {}
        for kind, text in texts.items():
            if text and text in made.values():
                again[kind] = f"{plural}[{literal(next(k for k, t in made.items() if t == text))}]"
            else:
                made[kind] = text or "None"
        lines = [f"{plural} = {_table(made)}"] + [f"{plural} |= {_table(again)}"] * bool(again)
        return lines, f"{plural}[kind]"

    @cached_property
    def _visible(self) -> dict[str, str]:
        """The distinct masks by kind, or one for all kinds."""
        texts = self._per_kind([text or "key >= 0" for text in self.layers.visible])
        return texts if len(set(texts.values())) > 1 else dict([next(iter(texts.items()))])

    def visible(self) -> str:
        """The function that makes the masks, nothing where none hides anything."""
        layers = self.layers
        if "mask" not in layers.parameters or not any(layers.visible):
            return ""
        plain = {self.kinds[n]: layers.plain[n] for n in range(len(layers.distinct))}
        masks = [{"kind": literal(kind), "visible": text, "plain_causal": plain[kind]} for kind, text in self._visible.items()]
        padding = any(re.search(r"\bpadding\b", text) for text in (*layers.visible, *layers.prepared))
        inputs = [f"{wanted.name}: Tensor" for wanted in layers.mask_inputs]
        if not layers.stack.padded:
            return render("visible_patches", masks=masks, padding=padding, prepared=layers.prepared)
        return render(
            "visible",
            name=layers.function("visible_keys"),
            masks=masks,
            mask_type=layers.mask_type,
            plain=any(layers.plain),
            inputs=inputs,
            padding=padding,
            prepared=layers.prepared,
        )

    def masks(self) -> tuple[list[str], str]:
        """The lines that make the masks, and what a layer is passed of them."""
        layers = self.layers
        several = len(self._visible) > 1
        if any(layers.visible):
            source = ["attention_mask", "new", "total", "input_ids.device"] if layers.stack.padded else ["x.shape[1]", "x.device"]
            given = ", ".join([*source, *(wanted.name for wanted in layers.mask_inputs)])
            lines = [f"{'masks' if several else 'mask'} = {layers.function('visible_keys')}({given})"]
        elif not layers.stack.padded:
            lines = []  # nothing is hidden: a bias stands alone
        elif layers.mask_optional:
            lines = ["mask = None if attention_mask is None else attention_mask[:, None, None, :].bool()"]
        else:
            lines = ["if attention_mask is None:", "    attention_mask = torch.ones_like(input_ids)"]
            lines += ["mask = attention_mask[:, None, None, :].bool()"]
        biases = self._per_kind(layers.schemes.biases)
        if not lines:
            return self._biases_alone(biases)
        if len(set(biases.values())) == 1 and not several:
            lines += [f'mask = torch.where(mask, {layers.schemes.biases[0]}, float("-inf"))'] * any(layers.schemes.biases)
            return lines, "mask"
        self.by_kind = True
        if not several:
            lines.append(f"masks = dict.fromkeys({layers.kinds}, mask)")
        for kind, bias in biases.items():
            if bias:
                lines.append(f'masks[{literal(kind)}] = torch.where(masks[{literal(kind)}], {bias}, float("-inf"))')
        return lines, "masks[kind]"


    def _biases_alone(self, biases: dict[str, str]) -> tuple[list[str], str]:
        """The same where no mask hides anything."""
        if len(set(biases.values())) == 1:
            return [f"mask = {self.layers.schemes.biases[0]}"], "mask"
        self.by_kind = True
        return [f"masks = {_table({kind: bias or 'None' for kind, bias in biases.items()})}"], "masks[kind]"


def _table(entries: dict[str, str]) -> str:
    return f"{{{', '.join(f'{literal(key)}: {text}' for key, text in entries.items())}}}"
