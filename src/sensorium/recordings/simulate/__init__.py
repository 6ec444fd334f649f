"""Simulated recordings in the files of real ones, whose truth is known."""
