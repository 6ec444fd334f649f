"""Basilisk as a world."""
