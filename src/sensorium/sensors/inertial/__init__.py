"""Accelerometers, gyroscopes, magnetometers and inertial measurement units."""
