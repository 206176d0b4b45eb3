"""A published config, and the checkpoint beside it, to a spec that stands alone."""
