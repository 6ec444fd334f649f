"""What kernels do with rays before any light is followed: rows of scratch, normals of hits, errors of rays."""
