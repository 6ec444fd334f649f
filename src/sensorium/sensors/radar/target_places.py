"""Positions of targets of stated cross-section in the frames of sensors, and the part of the field they may cover."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.echoes import Instant
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.targets import Targets
from sensorium.tracing.kernels.cone.tables import object_tables

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


class Places(NamedTuple):
    """Objects of stated cross-section from where each sensor is; one column an object."""

    column: Whole
    """Their numbers, shape (k,)."""
    mesh: Whole
    """Mesh of each, -1 if it cannot be hit in the field, shape (heads, k)."""
    group: Whole
    """First object of the target that each is a part of, shape (heads, k)."""
    R_SO: Float
    """Their attitudes, shape (heads, k, 3, 3)."""
    p_SO: Float
    """Origins of their frames [m], shape (heads, k, 3)."""
    span: Float
    """Least and greatest azimuth, least and greatest elevation of the sphere about each [rad], shape (heads, k, 4)."""
    boxes: Float
    """Least and greatest corner of each mesh [m], shape (meshes, 2, 3)."""


class TargetPlaces:
    """Places the stated objects of one layout."""

    def __init__(self, spec: Radar, rig: Rig, targets: Targets) -> None:
        self.targets = targets
        self._rig, self._farthest_m = rig, spec.farthest_m
        self._half = 0.5 * np.radians([spec.horizontal_fov_deg, spec.vertical_fov_deg])
        self._tables = object_tables(targets.layout, rig.tracer.body_names, rig.hide)
        stated = targets.is_given & targets.is_target
        self._mesh = np.where(stated, self._tables.mesh, -1).astype(np.int64)
        self._column = np.flatnonzero((self._mesh >= 0).any(axis=0))

    def __bool__(self) -> bool:
        return len(self._column) > 0

    def at(self, instant: Instant) -> Places:
        """Those at an instant; objects whose sphere is out of the field are left out."""
        column, world, tables = self._column, instant.world, self._tables
        row = self.targets.rows_of(world)[:, None]
        X_SO = instant.X_WS[:, None].inverse() @ self._in_world(instant, row)
        mesh = np.array(self._mesh[row, column])

        # Angles that the sphere about each covers; all of them where the sensor is inside
        middle = X_SO.apply(self._boxes.mean(axis=1)[mesh])
        distance = np.maximum(np.linalg.norm(middle, axis=-1), 1e-12)
        radius = tables.radius[row, column]
        sine = np.minimum(radius / distance, 1.0)
        azimuth, elevation = np.arctan2(middle[..., 1], middle[..., 0]), np.arcsin(middle[..., 2] / distance)
        up = np.where(sine < 1.0, np.arcsin(sine), np.pi)
        level = np.cos(elevation)
        across = np.where(sine < level, np.arcsin(np.minimum(sine / np.maximum(level, 1e-12), 1.0)), np.pi)
        out = (np.abs(azimuth) - across > self._half[0]) | (np.abs(elevation) - up > self._half[1])
        out |= distance - radius > self._farthest_m

        # A world that restarted after this instant has no targets at it
        history = self._rig.history
        if history.restarted_ns > instant.time_ns:
            out |= (history.valid_from_ns > instant.time_ns)[world][:, None]
        mesh[out] = -1
        return Places(
            column=column,
            mesh=mesh,
            group=np.array(self.targets.group[row, column]),
            R_SO=X_SO.rotation,
            p_SO=X_SO.position,
            span=np.stack([azimuth - across, azimuth + across, elevation - up, elevation + up], axis=-1),
            boxes=self._boxes,
        )

    def _in_world(self, instant: Instant, row: Whole) -> Pose:
        """X_WO of the stated objects, batch shape (heads, k)."""
        X_BO, body = self.targets.layout.X_BO[row, self._column], self.targets.body[self._column]
        if (body < 0).all():
            return X_BO
        mounted = instant.X_WB[instant.world[:, None], np.maximum(body, 0)] @ X_BO
        fixed = (body < 0)[:, None]
        return Pose._trusted(
            np.where(fixed, X_BO.position, mounted.position), np.where(fixed, X_BO.quaternion, mounted.quaternion)
        )

    @cached_property
    def _boxes(self) -> Float:
        """Least and greatest corner of each mesh [m], shape (meshes, 2, 3)."""
        return np.array([mesh.bounds for mesh in self.targets.layout.meshes]).reshape(-1, 2, 3)
