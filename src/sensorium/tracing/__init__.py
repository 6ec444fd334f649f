"""Ray casting: Embree driven from Numba kernels, and a NumPy reference to check it against."""
