"""Errors of a lidar: noise of ranges, biases of channels, jitter of columns."""
