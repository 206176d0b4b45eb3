"""A published checkpoint all the way: `make demo`."""
