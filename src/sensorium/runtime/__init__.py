"""Compilation, caching and parallel execution of kernels; signals, buffers, clusters."""
