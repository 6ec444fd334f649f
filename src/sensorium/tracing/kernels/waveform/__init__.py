"""From pulses to waveforms and back to returns: rays over the beam, a histogram per pulse, detectors; for kernels."""
