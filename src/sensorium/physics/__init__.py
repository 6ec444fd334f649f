"""The physics, as pure functions and validated data: one model a file."""
