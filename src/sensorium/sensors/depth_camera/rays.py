"""Additional rays of depth cameras, for errors that need them: of a second camera, or of parts of a pixel."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.runtime import worker_pool
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.depth_camera.tint_tables import material_reflectances
from sensorium.tracing.embree.packet import COHERENT_ADDRESS, TILE_COLUMNS, TILE_ROWS
from sensorium.tracing.kernels.depth.ray_jitter import RayJitter
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.placement.world_arrays import InstanceTables


def in_tiles(width: int, height: int) -> NDArray[np.uint32]:
    """Pixels of an image tile by tile, row by row inside; shape (width * height,)."""
    v, u = np.divmod(np.arange(width * height), width)
    return np.lexsort((u, v, u // TILE_COLUMNS, v // TILE_ROWS)).astype(np.uint32)


class Eyes(NamedTuple):
    """Origins, lenses and scene of the rays of all heads."""

    arrays: InstanceTables
    mask: np.uint32  # bits of the objects to see
    arguments: int  # address of Embree's
    lens: NDArray[np.float64]  # (heads, LENS_COLUMNS)
    rotation: NDArray[np.float64]  # (heads, 9) R_WS, row by row
    origin: NDArray[np.float32]  # (heads, 3) where they start [m], around the anchors of their worlds
    jitter: RayJitter  # of the pixels' own rays
    sensors: int  # heads a world


class DepthRays:
    """Rays of all heads of a rig at the instant its scenes are placed at."""

    def __init__(self, rig: Rig, placed: PlacedScenes, lens: NDArray[np.float64], jitter: RayJitter) -> None:
        """See the methods; `lens` has a row for each head."""
        self._rig, self._placed, self._lens, self._jitter = rig, placed, np.array(lens, order="C"), jitter

    def cast(self, kernel: Callable[..., None], blocks: int, X_WS: Pose, *arguments: object) -> None:
        """Run a kernel that casts its own rays, from sensors at poses of batch shape (heads,).

        Args:
            kernel: One that is `shared`, of first, step, count, `Eyes` and the arguments.
            blocks: Number of its blocks.
            X_WS: Origins and orientations of the rays.
            *arguments: Of the kernel.
        """
        rig, placed = self._rig, self._placed
        heads = len(self._lens)
        with placed.lock:
            eyes = Eyes(
                arrays=placed.tables,
                mask=np.uint32(placed.mask_without(rig.hide, air=False)),
                arguments=COHERENT_ADDRESS,
                lens=self._lens,
                rotation=np.array(X_WS.rotation, np.float64, order="C").reshape(heads, 9),
                origin=(X_WS.position - np.repeat(placed.anchor, rig.sensors, axis=0)).astype(np.float32),
                jitter=self._jitter,
                sensors=rig.sensors,
            )
            worker_pool.share(kernel, blocks, eyes, *arguments)

    def reflectance(self, wavelength_m: float) -> NDArray[np.float32]:
        """Reflectance [1] of objects at a wavelength [m], shape (1 | worlds, objects)."""
        layout = self._rig.tracer.layout
        return np.ascontiguousarray(material_reflectances(layout, wavelength_m)[layout.material_index])
