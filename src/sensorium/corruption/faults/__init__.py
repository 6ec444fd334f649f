"""Faults with a time of their own, one model a file."""
