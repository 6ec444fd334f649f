"""Writers of what was sensed, one format a file."""

from sensorium.record.ply import write_ply

__all__ = ["write_ply"]
