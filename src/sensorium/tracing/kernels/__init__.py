"""Kernels of sensors: the steps between aiming rays and writing readings."""
