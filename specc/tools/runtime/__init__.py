"""Built graphs on ONNX Runtime: sessions, generation, and what encoders and classifiers say."""
