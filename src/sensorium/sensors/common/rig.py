"""The rig of an attached sensor: its mount and its view of the scene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.corruption import FaultClock, TimingErrors
from sensorium.physics.fields import AbstractGravity, AbstractMagnetic, Sun
from sensorium.physics.media.base import AbstractMedium
from sensorium.tracing.scene_backend import SceneBackend
from sensorium.tracing.tracer import Tracer
from sensorium.worlds.history import History

if TYPE_CHECKING:
    from sensorium.sensors.common.attached import AttachedSensor


@dataclass(frozen=True)
class Rig:
    """Place of one sensor, or of several of a kind, in every world."""

    name: str
    seed: int
    history: History
    scene_backend: SceneBackend
    """The scene, wherever it lies; sensors that need it in memory take `tracer`."""
    body: int | None
    """Index of the body that carries it, None for the world itself."""
    joint: int | None
    """Index of the joint it measures, None for sensors that measure none."""
    X_BS: Pose
    """Pose on the body, batch shape (sensors,)."""
    hide: tuple[str, ...]
    """Bodies its rays pass through."""
    atmosphere: AbstractMedium
    """The air around everything."""
    sun: Sun | None
    """None is night."""
    gravity: AbstractGravity
    """The environment's; a world's own comes first, see `gravity_at`."""
    magnetic: AbstractMagnetic | None
    """None is no magnetic field."""
    timing: TimingErrors
    """Constant errors of the sensor's time."""
    faults: FaultClock | None
    """Scheduled faults; None if there are none."""
    first_world: int
    """Number of this environment's first world among all worlds of an experiment."""
    world_axis: bool
    """Whether readings have a leading axis of worlds."""
    sensor_axis: bool
    """Whether readings have an axis of sensors after it."""
    joint_slides: bool = False
    """Whether that joint slides [m]; others turn [rad]."""
    attached_sensors: "Mapping[str, AttachedSensor[Any]]" = field(default_factory=dict)
    """All sensors of the environment by name, as weak references; for sensors that disturb each other."""

    @cached_property
    def worlds(self) -> int:
        """Number of worlds."""
        return self.history.worlds

    @cached_property
    def sensors(self) -> int:
        """Number of sensors in each world."""
        return self.X_BS.shape[0]

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """Lengths of the leading axes of readings: worlds, then sensors."""
        return (self.worlds,) * self.world_axis + (self.sensors,) * self.sensor_axis

    @property
    def tracer(self) -> Tracer:
        """The scene in memory."""
        if isinstance(self.scene_backend, Tracer):
            return self.scene_backend
        raise SpecError(f"{self.name!r} looks into a scene in parts; only lidars can")

    def gravity_at(self, p_W: NDArray[np.float64], own_W: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Gravity at positions [m/s^2], a new array of shape (*batch, 3).

        Args:
            p_W: Positions [m], shape (*batch, 3).
            own_W: Gravity that the world's own state reports [m/s^2], of a shape that broadcasts; None takes the
                environment's field.
        """
        return self.gravity.at(p_W) if own_W is None else np.broadcast_to(own_W, p_W.shape).copy()

    def timing_errors(self, time_ns: int) -> TimingErrors:
        """Errors of the sensor's time at a time [ns]."""
        return self.timing if self.faults is None else self.timing + self.faults.timing(time_ns)

    @cached_property
    def keeps_time(self) -> bool:
        """Whether the sensor's clock is always right."""
        return self.faults is None and not self.timing.skew_ppm and not self.timing.clock_offset_s

    def stamp_ns(self, time_ns: int, *, known_ns: int | None = None) -> int:
        """Reading of the sensor's clock at a time [ns].

        Args:
            time_ns: The time.
            known_ns: Time at which clock errors are looked up, if later: faults only go forward, and a reset during an
                exposure comes after its start.
        """
        if self.keeps_time:
            return time_ns
        errors = self.timing_errors(time_ns if known_ns is None else known_ns)
        if not errors.skew_ppm and not errors.clock_offset_s:
            return time_ns
        return time_ns + round(time_ns * errors.skew_ppm * 1e-6) + seconds_to_ns(errors.clock_offset_s)

    def squeeze(self, array: NDArray[Any]) -> NDArray[Any]:
        """Remove the axes (worlds, sensors, ...) that the user did not request."""
        if not self.sensor_axis:
            array = array[:, 0]
        return array if self.world_axis else array[0]


def checked_mounts(pose: Pose | Sequence[Pose] | None) -> Pose:
    """X_BS of a sensor, batch shape (), or of several of a kind, (sensors,): None is the body's own frame."""
    if pose is not None and not isinstance(pose, Pose):
        if not all(isinstance(one, Pose) for one in pose):
            raise SpecError(f"pose is {pose!r}; it must be a sn.Pose or a sequence of them")
        if not len(pose):
            raise SpecError("pose is an empty sequence; there must be one pose at least")
        pose = Pose.stack(list(pose))
    X_BS = Pose() if pose is None else pose
    if len(X_BS.shape) > 1:
        raise SpecError(f"pose has batch shape {X_BS.shape}; it must be one pose or one row of poses")
    return X_BS
