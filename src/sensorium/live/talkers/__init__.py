"""Sensors that talk as real devices do, on serial ports and sockets: receivers, IMUs, autopilots' sensors."""
