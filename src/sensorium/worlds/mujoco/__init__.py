"""MuJoCo as a world, and scenes and robots from its models."""
