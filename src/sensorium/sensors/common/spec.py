"""The base of every sensor: its rig (mount and view of the scene), a specification, and a model of its readings."""

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from sensorium.core.clock import seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.core.spec import Spec
from sensorium.corruption import FaultClock, TimingErrors
from sensorium.corruption.faults.fault import FaultSchedule
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


# Jitter moves a sample by less than this share of the period, so that samples keep their order
_MOST_JITTER = 0.45


class Timing(Spec):
    """Clock of one sensor, with its errors.

    A reading is captured at tick k, at phase + k / rate (moved by `jitter_s`), stamped by the sensor's own clock (wrong
    by `clock_offset_s` and `skew_ppm`), and arrives `latency_s` later (give or take `latency_jitter_s`), or, with
    probability `loss`, never. `read()` gives what arrived. The errors are drawn once a tick for all worlds, which share
    one clock.

    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    >>> late = sn.Timing(rate_hz=100.0, latency_s=0.025)
    >>> gyroscope = env.attach(sn.Gyroscope(timing=late))
    >>> for _ in env.run(duration_s=0.1):
    ...     pass
    >>> env.time_ns - gyroscope.read().time_ns  # the newest that has arrived
    30000000
    """

    rate_hz: float | None = Field(default=None, gt=0.0)
    """Readings per second [Hz]; None takes the sensor's own rate (a lidar turns as its pattern says)."""
    phase_s: float = Field(default=0.0, ge=0.0)
    """Time of the first tick [s]."""
    latency_s: float = Field(default=0.0, ge=0.0)
    """From the end of the capture to the reading's arrival [s]."""
    latency_jitter_s: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the latency [s]; nothing arrives before it was captured."""
    jitter_s: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the instant of sampling [s], cut at 0.45 periods; of a lidar, of the firing of each
    column. For sensors that sample at instants, and for lidars."""
    clock_offset_s: float = 0.0
    """Offset of the sensor's clock at time 0 [s], positive if it is ahead."""
    skew_ppm: float = Field(default=0.0, gt=-1e6, lt=1e6)
    """Rate error of the sensor's clock, positive if fast [1e-6]."""
    loss: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a reading never arrives [1]."""

    def errors(self) -> TimingErrors:
        """Its errors except the sampling jitter; errors of faults are added to these."""
        return TimingErrors(
            delay_s=self.latency_s,
            jitter_s=self.latency_jitter_s,
            loss=self.loss,
            clock_offset_s=self.clock_offset_s,
            skew_ppm=self.skew_ppm,
        )

    def shifts_ns(self, normal: ArrayLike, period_ns: float) -> NDArray[np.int64]:
        """Displacements of samples [ns], from standard normal numbers of any shape."""
        most_ns = _MOST_JITTER * period_ns
        return np.rint(np.clip(np.asarray(normal) * self.jitter_s * 1e9, -most_ns, most_ns)).astype(np.int64)


R = TypeVar("R")


@dataclass(slots=True)
class Capture(Generic[R]):
    """One reading as it leaves the sensor."""

    time_ns: int
    """When it was complete [ns]."""
    reading: R
    truth: Callable[[], R]
    """Computes the reading without corruption, when it is requested."""
    tick: int
    """Number of the reading among all that the sensor's clock allows."""

    def without(self, mask: NDArray[np.bool_]) -> "Capture[R]":
        """The same while it is pending, void in the worlds that restarted, shape (worlds,)."""
        reading, truth = cast(Any, self.reading), cast(Callable[[], Any], self.truth)
        return Capture(self.time_ns, reading.without(mask), lambda: truth().without(mask), self.tick)


class SensorModel(Protocol[R]):
    """The running model of a sensor: owns all state."""

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterable[Capture[R]]:
        """Readings completed after one time and up to another.

        Args:
            after_ns: The time observed before [ns].
            upto_ns: The time now [ns].
            since_ns: Time at which the sensor was last switched on [ns]; nothing is measured before.
        """

    def due_ns(self, now_ns: int) -> int:
        """When the next reading may be complete at the earliest [ns], once those up to now are; until then it rests."""

    def needs_from_ns(self, now_ns: int) -> int:
        """The oldest time that later readings may read from the history [ns]."""

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the state of the masked worlds, shape (worlds,)."""


class SensorSpec(Spec, abc.ABC, Generic[R]):
    """Specification of a sensor whose readings are of type R."""

    timing: Timing = Field(default_factory=Timing)
    """When it measures, and when readings arrive."""
    faults: FaultSchedule = Field(default_factory=FaultSchedule)
    """Faults."""

    targets: ClassVar[tuple[str, ...]] = ()
    """Names that faults call its groups of channels by."""

    @model_validator(mode="after")
    def _faults_find_their_targets(self) -> Self:
        for fault in self.faults.faults:
            if fault.corruption is not None and not self.targets:
                what = str(getattr(self, "kind", type(self).__name__)).replace("_", " ")
                raise ValueError(f"a fault has a corruption; a {what} has no channels for it, its faults are of timing")
            if fault.target is not None and fault.target not in self.targets:
                known = ", ".join(self.targets) or "none"
                raise ValueError(f"a fault's target is {fault.target!r}; it must be one of: {known}")
        return self

    @classmethod
    def from_device(
        cls, name: str | PathLike[str], *, folder: str | PathLike[str] | None = None, **overrides: Any
    ) -> Self:
        """The sensor of a data sheet, such as `sn.Lidar.from_device("ouster-os1-128")`.

        Args:
            name: One of `sn.devices.names()`, or the path of a TOML file.
            folder: A folder of further sheets, beside that of the environment variable SENSORIUM_DEVICES.
            overrides: Fields of the specification; a dictionary changes only the fields that it names,
                `pattern={"columns": 2048}`.
        """
        # Here, not above: few sensors are made by name, and the schema of sheets takes a while to build
        from sensorium import devices

        kind = str(cls.model_fields["kind"].default)
        return cls.model_validate(devices.specification(name, overrides, kind=kind, folder=folder))

    @abc.abstractmethod
    def start(self, rig: Rig) -> SensorModel[R]:
        """Put the sensor to work where the rig says."""
