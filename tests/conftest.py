"""What all tests share."""

from hypothesis import settings

# No test depends on how fast the machine is, nor on whether a function is compiled at its first call
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
