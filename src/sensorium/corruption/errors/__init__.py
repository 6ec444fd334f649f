"""Errors of signals, one model a file."""
