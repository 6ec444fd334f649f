"""Kernels of depth cameras."""
