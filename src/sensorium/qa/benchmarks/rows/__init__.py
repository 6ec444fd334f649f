"""Benchmark rows, one subject a file."""
