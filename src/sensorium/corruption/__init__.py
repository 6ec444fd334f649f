"""Errors and faults of signals: one a file, and the chain that orders them."""
