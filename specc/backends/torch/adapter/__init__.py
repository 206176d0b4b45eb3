"""Adapters in PyTorch: one file that lays its parts over a generated model."""
