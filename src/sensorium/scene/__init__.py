"""Scenes: meshes, shapes, objects on bodies, labels, and batches of worlds."""
