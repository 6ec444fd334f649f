"""Kernels of strong light in a lidar: saturation, blooming, cross-talk, sunlight."""
