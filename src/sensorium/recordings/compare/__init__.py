"""A recording of a real device beside the same scene, measured by the simulated one."""
