"""Shared by sensors: specifications, timing, mounts, sampling, errors, readings."""
