"""Recordings as worlds: tracks of poses and joints, tables, MCAP files."""
