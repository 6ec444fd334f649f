"""Encoders and odometers."""
