"""A narrow pencil of rays in plain float64: the effect of curved mirrors on it, for the reference `ray_tree`.

Rays that leave the sensor's point under small angles a about their axis are displaced by B a and tilted by D a, both 3
x 2, across the axis. Along a reduced path s, B grows by s D. A mirror reflects both, and a curved one tilts each ray by
twice the rotation of its normal between the axis and the ray's hit: see the equivalent wavefronts of
`sensorium.physics.optics.surfaces.mirror_spread`.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pencil:
    """Rays about an axis."""

    axis: Array
    """Unit direction (3,)."""
    displaced: Array
    """B [m], (3, 2)."""
    tilted: Array
    """D [1], (3, 2)."""

    @classmethod
    def from_point(cls, axis: Array, path_m: float) -> "Pencil":
        """The pencil of a point, a reduced path away from it."""
        _, _, rest = np.linalg.svd(axis[None])
        across = rest[1:].T
        return cls(axis, path_m * across, across)

    @property
    def distance_m(self) -> float:
        """z_eff, the distance of equal direct spread [m]: the root of |det B|."""
        return float(np.sqrt(np.linalg.norm(np.cross(*self.displaced.T))))

    @property
    def opening(self) -> float:
        """Ratio of its present to its initial solid angle: |det D|."""
        return float(np.linalg.norm(np.cross(*self.tilted.T)))

    def along(self, path_m: float) -> "Pencil":
        """A reduced path further on."""
        return replace(self, displaced=self.displaced + path_m * self.tilted)

    def mirrored(self, normal: Array, curvature: Array, per_length: float) -> "Pencil":
        """After a mirror of unit normal (3,) and curvature [1/m] (3, 3); `per_length` is reduced path over length."""
        flip = np.eye(3) - 2.0 * np.outer(normal, normal)
        axis, cosine = flip @ self.axis, float(self.axis @ normal)
        cosine = np.copysign(max(abs(cosine), 1e-4), cosine)

        # Where each ray meets the mirror, seen from where the axis does; there the normal is turned by K times that
        met = self.displaced - np.outer(self.axis, normal @ self.displaced) / cosine
        turn = curvature @ met

        # r = d - 2 (d.n) n, for a normal that is turned a little; only the part across the axis is a tilt
        tilt = -2.0 * (np.outer(normal, self.axis @ turn) + cosine * turn) / per_length
        tilt -= np.outer(axis, axis @ tilt)
        return Pencil(axis, flip @ self.displaced, flip @ self.tilted + tilt)

    def turned(self, axis: Array) -> "Pencil":
        """About another axis, by the shortest rotation: the flat approximation of refraction."""
        w = np.cross(self.axis, axis)
        cross = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        turn = np.eye(3) + cross + cross @ cross / max(1.0 + float(self.axis @ axis), 1e-9)
        return Pencil(axis, turn @ self.displaced, turn @ self.tilted)
