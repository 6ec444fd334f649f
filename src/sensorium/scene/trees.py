"""Trees as meshes, each grown from a seed, with its foot at the origin and up along z.

Faces are labeled "trunk" (branches too) and "leaves". Every trunk, branch, clump and tier is closed and wound outward;
they overlap. A tree has one to two thousand faces: enough for a robot's sensors, few enough for a forest.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh

__all__ = ["LEAVES", "TRUNK", "broadleaf", "conifer"]

Array = NDArray[np.float64]

TRUNK, LEAVES = "trunk", "leaves"

# Azimuth from branch to branch: of a few, no two are above each other
_GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


def broadleaf(height: float, *, seed: int, branches: int = 14, leaves: bool = True) -> Mesh:
    """A tree with a bent trunk, branches all around and a clump of leaves at the end of each.

    Args:
        height: Of the highest leaves, about [m].
        seed: Which tree.
        branches: How many.
        leaves: Whether it has any: a bare tree has twigs instead.
    """
    draw = _Draws(height, seed, branches)
    top, foot = 0.86 * height, 0.028 * height * draw.between(0.85, 1.15)
    trunk_z = np.linspace(0.0, 1.0, 6)
    bend = height * 0.05 * np.stack([draw.several(6, -1.0, 1.0), draw.several(6, -1.0, 1.0)], axis=-1)
    line = np.column_stack([bend * trunk_z[:, None], top * trunk_z])
    parts = [(_tube(line, foot * (1.0 - 0.8 * trunk_z), 9), TRUNK)]
    turn = draw.between(0.0, 2.0 * math.pi)
    for number in range(branches):
        # Low branches are long and level, high ones short and steep
        share = (number + draw.between(0.0, 1.0)) / branches
        start = _along(line, 0.32 + 0.66 * share)
        azimuth = turn + number * _GOLDEN_ANGLE + draw.between(-0.3, 0.3)
        rise = math.radians(15.0 + 50.0 * share + draw.between(-8.0, 8.0))
        length = height * (0.36 - 0.2 * share) * draw.between(0.8, 1.2)
        way = np.array([math.cos(azimuth) * math.cos(rise), math.sin(azimuth) * math.cos(rise), math.sin(rise)])
        end = start + length * way
        middle = start + 0.55 * length * way - (0.0, 0.0, 0.05 * length)
        thick = 0.4 * foot * (1.1 - share)
        parts.append((_tube(np.array([start, middle, end]), thick * np.array([1.0, 0.6, 0.15]), 5), TRUNK))
        if leaves:
            size = height * draw.between(0.085, 0.135)
            parts.append((_clump(end, size, draw), LEAVES))
        else:
            for _ in range(3):
                aside = way + np.array([draw.between(-0.8, 0.8), draw.between(-0.8, 0.8), draw.between(-0.1, 0.8)])
                twig = np.array([middle, middle + 0.45 * length * aside / np.linalg.norm(aside)])
                parts.append((_tube(twig, thick * np.array([0.4, 0.08]), 4), TRUNK))
    if leaves:
        parts.append((_clump(line[-1], 0.13 * height, draw), LEAVES))
    return _joined(parts)


def conifer(height: float, *, seed: int, tiers: int = 7) -> Mesh:
    """A straight trunk with tiers of hanging twigs, each narrower than the one below.

    Args:
        height: To its tip [m].
        seed: Which tree.
        tiers: How many.
    """
    draw = _Draws(height, seed, tiers)
    foot = 0.02 * height * draw.between(0.85, 1.15)
    line = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.95 * height]])
    parts = [(_tube(line, foot * np.array([1.0, 0.15]), 9), TRUNK)]
    clear, reach = draw.between(0.1, 0.2), 0.2 * height * draw.between(0.85, 1.15)
    for number in range(tiers):
        share = number / tiers
        low = height * (clear + (0.96 - clear) * share)
        high = min(low + 1.9 * height * (0.96 - clear) / tiers, height)
        parts.append((_tier(low, high, reach * (1.0 - 0.88 * share), draw), LEAVES))
    return _joined(parts)


class _Draws:
    """Random numbers of one tree, one after the other."""

    def __init__(self, height: float, seed: int, parts: int) -> None:
        if not (math.isfinite(height) and height > 0.0):
            raise SceneError(f"height is {height}; it must be finite and positive")
        if not 1 <= parts <= 200:
            raise SceneError(f"a tree has {parts} branches or tiers; it must be 1 to 200")
        # Imported here: compiled code loads slowly
        from sensorium.random import Stream

        self._numbers = iter(Stream(seed, "tree").uniform(0, 0, 0, elements=100_000)[0])

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * float(next(self._numbers))

    def several(self, count: int, low: float, high: float) -> Array:
        return np.array([self.between(low, high) for _ in range(count)])


def _along(line: Array, share: float) -> Array:
    """A point of a line of evenly spaced points."""
    at = share * (len(line) - 1)
    return np.array([np.interp(at, np.arange(len(line)), line[:, axis]) for axis in range(3)])


def _tube(line: Array, radii: ArrayLike, sides: int) -> Mesh:
    """A closed tube along points, of a radius at each [m]."""
    radius = np.asarray(radii)
    direction = np.gradient(line, axis=0)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    aside = np.cross(direction, np.array([0.36, 0.48, 0.8]) if abs(direction[0, 2]) < 0.9 else np.array([1.0, 0, 0]))
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    across = np.cross(direction, aside)
    azimuth = 2.0 * math.pi * np.arange(sides) / sides
    around = np.cos(azimuth)[:, None] * aside[:, None] + np.sin(azimuth)[:, None] * across[:, None]
    rings = line[:, None] + radius[:, None, None] * around
    return shapes.closed_rings(rings, line[0], line[-1])


def _clump(middle: Array, size: float, draw: _Draws) -> Mesh:
    """Leaves as one uneven ball."""
    ball = shapes.sphere(1.0, 1)
    uneven = 1.0 + draw.several(len(ball.vertices), -0.3, 0.25)
    stretch = size * np.array([draw.between(0.9, 1.3), draw.between(0.9, 1.3), draw.between(0.6, 0.9)])
    turned = Pose.from_euler_deg(middle, yaw=draw.between(0.0, 360.0))
    return Mesh(turned.apply(ball.vertices * uneven[:, None] * stretch), ball.faces)


def _tier(low: float, high: float, reach: float, draw: _Draws) -> Mesh:
    """A hanging star of twigs, closed from below."""
    points = 14
    azimuth = 2.0 * math.pi * (np.arange(points) + draw.between(0.0, 1.0)) / points
    radius = reach * np.where(np.arange(points) % 2, 0.55, 1.0) * draw.several(points, 0.8, 1.2)
    rim_z = low - 0.12 * (high - low) * draw.several(points, 0.0, 1.0)
    rim = np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), rim_z])
    return shapes.closed_rings(rim[None], np.array([0.0, 0.0, low]), np.array([0.0, 0.0, high]))


def _joined(parts: Sequence[tuple[Mesh, str]]) -> Mesh:
    """One mesh of all parts, faces labeled."""
    whole = Mesh.merge([mesh for mesh, _ in parts])
    label = np.concatenate([np.full(len(mesh.faces), name) for mesh, name in parts])
    return Mesh(whole.vertices, whole.faces, face_properties={"label": label})
