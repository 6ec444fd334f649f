"""Steps of kernels on rays that need no light: rows of scratch, normals of hits, errors of rays."""
