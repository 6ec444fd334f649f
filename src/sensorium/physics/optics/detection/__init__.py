"""Receivers of light: pulses, thresholds, returns, cross-talk."""
