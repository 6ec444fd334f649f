"""Kernels of sensors: what they do between aiming rays and writing readings."""
