"""Kernels of closed_meshes.py: matching edges, joining and measuring components, merging coincident vertices."""

from typing import Any

import numpy as np

from sensorium.runtime import jit


@jit.kernel
def match_edges(faces: Any, parent: Any, border: Any) -> tuple[int, int]:
    """Join the faces along each edge; returns how many edges leave a border, and along how many faces run the same way.

    Args:
        faces: Vertices, (m, 3); a face with two equal ones is a line, and left out.
        parent: Filled with a forest of faces, (m,): those of one component have one root.
        border: Set for vertices of edges that border an odd number of faces.
    """
    # Half-edges by their lower vertex, as 2 x the upper one, and 1 more where they run downward
    size = border.shape[0]
    start = np.zeros(size + 1, np.int64)
    for f in range(faces.shape[0]):
        parent[f] = f
        if not _is_line(faces, f):
            for side in range(3):
                start[min(faces[f, side], faces[f, (side + 1) % 3]) + 1] += 1
    for v in range(size):
        start[v + 1] += start[v]
    upper, owner = np.empty(start[size], np.int64), np.empty(start[size], np.int32)
    filled = start[:-1].copy()
    for f in range(faces.shape[0]):
        if not _is_line(faces, f):
            for side in range(3):
                a, b = faces[f, side], faces[f, (side + 1) % 3]
                at = filled[min(a, b)]
                upper[at], owner[at] = 2 * np.int64(max(a, b)) + np.int64(a > b), f
                filled[min(a, b)] += 1

    # Runs of one edge
    loose, mixed = 0, 0
    for v in range(size):
        begin, end = start[v], start[v + 1]
        _sort(upper, owner, begin, end)
        k = begin
        while k < end:
            last, balance = k, 0
            while last < end and upper[last] // 2 == upper[k] // 2:
                balance += 1 - 2 * (upper[last] % 2)
                _join(parent, owner[k], owner[last])
                last += 1
            if (last - k) % 2 == 1:
                loose += 1
                border[v], border[upper[k] // 2] = True, True
            elif balance != 0:
                mixed += 1
            k = last
    return loose, mixed


@jit.function
def _sort(key, value, begin, end):
    """Sort a stretch of two arrays by the first: Shell's method, an insertion where it is as short as it mostly is."""
    gap = 1
    while 3 * gap + 1 < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, end):
            one, other, at = key[k], value[k], k
            while at - gap >= begin and key[at - gap] > one:
                key[at], value[at] = key[at - gap], value[at - gap]
                at -= gap
            key[at], value[at] = one, other
        gap //= 3


@jit.function
def _is_line(faces, f):
    """Whether a face has two corners that are one vertex."""
    return faces[f, 0] == faces[f, 1] or faces[f, 1] == faces[f, 2] or faces[f, 2] == faces[f, 0]


@jit.function
def _root(parent, f):
    """Root of a face's tree; the way there is halved for the next."""
    while parent[f] != f:
        parent[f] = parent[parent[f]]
        f = parent[f]
    return f


@jit.function
def _join(parent, a, b):
    """Make two faces of one component; the lower root stays."""
    a, b = _root(parent, a), _root(parent, b)
    parent[max(a, b)] = min(a, b)


@jit.kernel
def number(parent: Any, component: Any) -> int:
    """Number the components in the order of their first faces; returns how many there are."""
    count = 0
    for f in range(parent.shape[0]):
        root = _root(parent, f)
        if root == f:
            component[f] = count
            count += 1
        else:
            component[f] = component[root]
    return count


@jit.kernel
def measure(vertices: Any, center: Any, faces: Any, component: Any, area: Any, volume: Any) -> None:
    """Area and signed volume of each component, around the middle of the mesh."""
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[a, 0] - center[0], vertices[a, 1] - center[1], vertices[a, 2] - center[2]
        bx, by, bz = vertices[b, 0] - center[0], vertices[b, 1] - center[1], vertices[b, 2] - center[2]
        cx, cy, cz = vertices[c, 0] - center[0], vertices[c, 1] - center[1], vertices[c, 2] - center[2]
        ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        area[component[f]] += 0.5 * np.sqrt(nx * nx + ny * ny + nz * nz)
        volume[component[f]] += (ax * nx + ay * ny + az * nz) / 6.0


@jit.kernel
def find_stand_ins(vertices: Any, low: Any, near_m: float, chosen: Any, stands: Any) -> None:
    """Map each chosen vertex to the first one before it that is within `near_m` on every axis.

    First vertices are in a hash table by cell, of twice that size: a vertex near one finds it in its own cell or in the
    seven next to the nearest corner.
    """
    size = 1
    while size < 2 * chosen.shape[0]:
        size *= 2
    table = np.full(size, -1, np.int32)
    cell = 0.5 / near_m
    for v in chosen:
        x, y, z = vertices[v, 0] - low[0], vertices[v, 1] - low[1], vertices[v, 2] - low[2]
        found = -1
        for corner in range(8):
            i = np.int64(np.floor((x + (near_m if corner & 1 else -near_m)) * cell))
            j = np.int64(np.floor((y + (near_m if corner & 2 else -near_m)) * cell))
            k = np.int64(np.floor((z + (near_m if corner & 4 else -near_m)) * cell))
            slot = _slot(i, j, k, size)
            while table[slot] >= 0 and found < 0:
                other = table[slot]
                dx, dy = abs(vertices[other, 0] - vertices[v, 0]), abs(vertices[other, 1] - vertices[v, 1])
                if max(dx, dy, abs(vertices[other, 2] - vertices[v, 2])) <= near_m:
                    found = other
                slot = (slot + 1) & (size - 1)
            if found >= 0:
                break
        if found >= 0:
            stands[v] = found
            continue
        slot = _slot(np.int64(np.floor(x * cell)), np.int64(np.floor(y * cell)), np.int64(np.floor(z * cell)), size)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = v


@jit.function
def _slot(i, j, k, size):
    """Start of a cell's entries in a table of a power of two."""
    mixed = np.uint64(i) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(j) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= np.uint64(k) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((mixed >> np.uint64(20)) & np.uint64(size - 1))
