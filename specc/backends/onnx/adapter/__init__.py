"""Adapters in ONNX: kept apart as inputs of the base graph, or merged into its weights."""
