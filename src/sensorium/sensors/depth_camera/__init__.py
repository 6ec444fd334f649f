"""Depth cameras."""
