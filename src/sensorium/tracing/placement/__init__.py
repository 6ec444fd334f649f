"""Where bodies, objects and sensors are: motion, instance arrays, Embree scenes of worlds."""
