"""The radar: its specification, what it makes of echoes, and its detections."""
