"""Receivers for `sensorium listen`, one path a file."""
