"""Plots of cone sensors: meshes, cones and rays in space, in a parallel projection."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.frames import Pose
from sensorium.physics.cone import half_angle_tangent
from sensorium.scene.mesh import Mesh
from sensorium.view.plots import PAPER, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Float = NDArray[np.float64]

RAY = "#ff4ad8"
"""Color of the way to a closest point."""

# Points around the rim of a cone
_RIM = 120


class Prospect:
    """Axes that show space from one side; points are given in the world [m]."""

    def __init__(self, axes: "Axes", title: str, *, azimuth_deg: float, elevation_deg: float) -> None:
        """Empty the axes.

        Args:
            axes: Where to draw.
            title: Upper left.
            azimuth_deg: Where the eye is, from the x axis to the left, seen from above [deg].
            elevation_deg: How high it is [deg].
        """
        azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
        away = (math.cos(azimuth), math.sin(azimuth))
        right = (-away[1], away[0], 0.0)
        up = (-math.sin(elevation) * away[0], -math.sin(elevation) * away[1], math.cos(elevation))
        toward = (math.cos(elevation) * away[0], math.cos(elevation) * away[1], math.sin(elevation))
        self._axes, self._onto = axes, np.array([right, up, toward]).T
        axes.set_facecolor(PAPER)
        axes.set_axis_off()
        axes.set_aspect("equal")
        heading(axes, title)

    def solid(self, mesh: Mesh, pose: Pose, color: str, *, opacity: float = 0.25) -> None:
        """A mesh with the edges of its triangles, those in front over those behind."""
        from matplotlib.collections import PolyCollection

        seen = self._seen(pose.apply(mesh.vertices[mesh.faces]))
        seen = seen[np.argsort(seen[..., 2].mean(axis=1), kind="stable")]
        faces = PolyCollection(list(seen[..., :2]), facecolor=color, edgecolor=color, alpha=opacity, linewidth=0.4)
        self._axes.add_collection(faces)
        self._axes.update_datalim(seen[..., :2].reshape(-1, 2))
        self._axes.autoscale_view()

    def lines(self, segments: ArrayLike, color: str, *, width: float = 0.8) -> None:
        """Straight lines, each from one point to another, shape (lines, 2, 3)."""
        from matplotlib.collections import LineCollection

        seen = self._seen(np.asarray(segments, np.float64))[..., :2]
        self._axes.add_collection(LineCollection(list(seen), colors=color, linewidths=width))
        self._axes.update_datalim(seen.reshape(-1, 2))
        self._axes.autoscale_view()

    def cone(self, X_WS: Pose, fov_deg: Sequence[float], range_m: float, color: str) -> None:
        """A cone with a flat front, of a horizontal and a vertical field of view [deg]."""
        a, b = (half_angle_tangent(angle) for angle in fov_deg)
        angle = np.linspace(0.0, 2.0 * math.pi, _RIM + 1)
        rim = X_WS.apply(range_m * np.stack([np.ones_like(angle), a * np.cos(angle), b * np.sin(angle)], axis=1))
        apex = np.broadcast_to(X_WS.position, rim.shape)
        seen = self._seen(np.stack([apex[1:], rim[:-1], rim[1:]], axis=1))[..., :2]
        for triangle in seen:
            self._axes.fill(*triangle.T, color=color, alpha=0.06, linewidth=0)
        self._axes.plot(*self._seen(rim)[:, :2].T, color=color, linewidth=1.2)
        self.lines(np.stack([apex, rim], axis=1)[:: _RIM // 4], color)

    def ray(self, start: ArrayLike, end: ArrayLike, *, bold: bool = False) -> None:
        """The way to a closest point."""
        seen = self._seen(np.array([start, end], np.float64))[:, :2]
        self._axes.plot(*seen.T, color=RAY, linewidth=3.0 if bold else 1.0, zorder=4)
        self._axes.plot(*seen[1], "o", color=RAY, markersize=8 if bold else 5, zorder=5)

    def sensor(self, place: ArrayLike) -> None:
        """Position of a sensor."""
        x, y = self._seen(np.asarray(place, np.float64))[:2]
        self._axes.plot(x, y, "o", color="white", markersize=9, zorder=6)

    def _seen(self, points: Float) -> Float:
        """Across, up, and towards the eye, shape (..., 3)."""
        return points @ self._onto
