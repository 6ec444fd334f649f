"""References in plain float64."""
