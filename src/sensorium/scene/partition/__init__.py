"""Scenes split into parts that lie in files."""
