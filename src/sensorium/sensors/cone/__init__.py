"""Cone sensors."""
