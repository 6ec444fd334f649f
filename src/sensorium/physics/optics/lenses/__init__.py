"""Lenses: distortion, aberrations, vignetting, stray light."""
