"""The language server: what an editor asks, in the protocol that editors speak."""
