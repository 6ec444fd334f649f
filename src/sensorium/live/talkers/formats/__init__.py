"""Bytes of serial devices: one description a format, by which messages are encoded and decoded."""
