"""From pulses to waveforms and back to returns: rays over the beam, a histogram a pulse, detectors; for kernels."""
