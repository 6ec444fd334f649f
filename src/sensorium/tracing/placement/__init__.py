"""Placement of bodies, objects and sensors: motion, instance arrays, Embree scenes of worlds."""
