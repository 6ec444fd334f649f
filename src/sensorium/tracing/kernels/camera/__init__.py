"""Kernels of cameras."""
