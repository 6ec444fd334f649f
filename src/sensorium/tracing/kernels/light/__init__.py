"""From hits to returns: materials, media, the ray tree and the choice of returns, block by block, for kernels."""
