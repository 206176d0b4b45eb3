"""Checkpoints: their files, where each parameter lies in them, and how one layout becomes another."""
