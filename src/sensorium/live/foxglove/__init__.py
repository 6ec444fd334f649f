"""A server for Foxglove."""
