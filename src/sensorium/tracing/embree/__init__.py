"""Embree: the library, packets of rays, meshes, crossings, edges."""
