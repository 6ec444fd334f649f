"""Images of pinhole cameras drawn object by object."""
