"""Lidars as UDP packets of their makers, which leave at their firing times."""
