"""What a recording tells of a sensor: Allan deviation and what follows from it."""
