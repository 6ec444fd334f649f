"""Sensors: specifications users write, and the live handles an environment returns for them."""
