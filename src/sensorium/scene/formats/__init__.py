"""Mesh files: one part of a format a file."""
