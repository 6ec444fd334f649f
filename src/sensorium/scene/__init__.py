"""What there is to see: meshes, shapes, objects on bodies, labels, and many worlds of them."""
