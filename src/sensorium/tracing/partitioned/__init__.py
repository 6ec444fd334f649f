"""Scenes in parts, each in a process of its own."""
