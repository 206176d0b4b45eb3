"""specc: a declarative text that says what a transformer is, compiled to PyTorch and to ONNX."""

__version__ = "0.1.0"
