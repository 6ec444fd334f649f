"""References in float64 that one can check by reading."""
