"""Beams of several rays outside waveform mode: returns that the receiver cannot separate become one."""
