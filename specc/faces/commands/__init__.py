"""One module per command: `arguments(parser)` and `run(options) -> exit status`."""
