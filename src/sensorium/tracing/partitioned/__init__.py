"""Partitioned scenes, each part in a process of its own."""
