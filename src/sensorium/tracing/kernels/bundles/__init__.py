"""Bundles of rays, one per beam or pulse: the common parts of both kernels."""
