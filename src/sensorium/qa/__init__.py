"""Quality: validation, benchmarks, round trips of devices, the demonstration."""
