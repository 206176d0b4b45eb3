"""What the tools know of adapters: their figures, what a change of one means, and their proof."""
