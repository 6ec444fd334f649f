"""The base of ray sensors of one's own."""
