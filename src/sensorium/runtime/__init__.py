"""How kernels are compiled, cached and run in parallel; signals, buffers, clusters."""
