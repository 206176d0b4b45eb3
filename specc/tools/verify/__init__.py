"""The proof that PyTorch, ONNX Runtime and the published model compute the same numbers, and that every field counts."""
