"""Mesh files of triangles as text: nine numbers a line, three corners."""

import numpy as np

import sensorium as sn


def read_tri(path, *, max_bytes, paint):
    """Read a .tri file."""
    corners = np.loadtxt(path, ndmin=2).reshape(-1, 3)
    return sn.Mesh(corners, np.arange(len(corners)).reshape(-1, 3))
