"""Sensors, a corruption, a mesh format and a world for harbours."""
