"""What recordings show of a device, one kind of device or quantity a file."""
