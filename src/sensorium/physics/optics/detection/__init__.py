"""What receivers make of light: pulses, thresholds, returns, cross-talk."""
