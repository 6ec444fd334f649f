"""Bundles of rays that belong together, one a beam or a pulse: what the kernels of both have in common."""
