"""Sensors that talk as real devices do, on serial ports and sockets: satellite receivers, IMUs, sensors of autopilots."""
