"""Scenes split into parts, each in files of its own."""
