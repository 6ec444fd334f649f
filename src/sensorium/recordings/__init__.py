"""Recordings of real sensors: read as plain arrays, and measured."""
