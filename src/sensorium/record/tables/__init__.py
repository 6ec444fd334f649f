"""Tables of signals."""
