"""What a device does, measured in a recording, with 95 % intervals."""
