"""More rays of depth cameras, for errors that need them: of a second eye, or of parts of a pixel."""

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.sensors.instant_cast import cast_into
from sensorium.sensors.rig import Rig
from sensorium.sensors.tint_tables import material_reflectances
from sensorium.trace.lens import look_heads
from sensorium.trace.placement import PlacedScenes
from sensorium.trace.rays import Rays


class DepthRays:
    """Rays of all heads of a rig at the instant its scenes are placed at."""

    def __init__(self, rig: Rig, placed: PlacedScenes, lens: NDArray[np.float64]) -> None:
        """See the methods; `lens` has a row for each head."""
        self._rig, self._placed, self._lens = rig, placed, lens

    def look(self, pixels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Unit directions in S of image points (n, 2) [px], shape (heads, n, 3)."""
        u, v = np.ascontiguousarray(np.asarray(pixels, np.float32).T)
        out = np.empty((len(self._lens), len(u), 3), np.float32)
        threads.run(look_heads, len(self._lens), u, v, np.array(self._lens, order="C"), out)
        return out.astype(np.float64)

    def cast(
        self, origin_W: NDArray[np.float64], direction_W: NDArray[np.float64], reach_m: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
        """Range [m], infinite for a miss, object id, -1, and cosine of incidence, 0, of rays (heads, n, 3)."""
        rig = self._rig
        shape = origin_W.shape[:2]
        count = shape[0] * shape[1]
        rays = Rays(
            origin=np.ascontiguousarray(origin_W, np.float64).reshape(-1, 3),
            direction=np.ascontiguousarray(direction_W, np.float32).reshape(-1, 3),
            time=np.zeros(count, np.float32),
            t_max=np.full(count, reach_m, np.float32),
            world=np.repeat(np.arange(shape[0]) // rig.sensors, shape[1]).astype(np.int32),
        )
        out = cast_into(rig, self._placed, rays)
        cosine = np.abs(np.einsum("ri,ri->r", out.normal, rays.direction))
        return out.range_m.reshape(shape), out.object_id.reshape(shape), cosine.reshape(shape)

    def reflectance(self, object_id: NDArray[np.int32], wavelength_m: float) -> NDArray[np.float32]:
        """Reflectance [1] of objects (heads, n) at a wavelength [m], 0 for none."""
        layout = self._rig.tracer.layout
        table = material_reflectances(layout, wavelength_m)[layout.material_index]
        worlds = np.arange(len(object_id)) // self._rig.sensors if len(table) > 1 else np.zeros(len(object_id), int)
        return np.where(object_id >= 0, table[worlds[:, None], np.maximum(object_id, 0)], np.float32(0.0))
