"""Readers of recordings, one form of file each."""
