"""A function-based sensor: the nearest point of all objects in a cone, and its motion."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sensorium.core.rotations import Float
from sensorium.corruption import Program, State
from sensorium.sensors.common.error_group import ErrorGroup
from sensorium.sensors.common.held import Held
from sensorium.sensors.common.sampled import SampledModel, required_rate_hz
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.sensors.cone import channels as cc
from sensorium.sensors.cone.caster import ConeCaster, ConeOptions
from sensorium.sensors.cone.channels import COLUMNS, OBJECT, RANGE, derive, measure, new_memory
from sensorium.sensors.cone.reading import ConeReading
from sensorium.sensors.cone.sighting import Sighting
from sensorium.sensors.cone.verdict import new_rule


class ConeSensor(SensorSpec[ConeReading]):
    """The nearest point of all objects in an elliptic cone ahead, its range, direction and speed.

    Geometry instead of rays: the sensor samples only the objects themselves, by lines over their faces as in the
    thesis, or not at all (`lines="exact"`). Objects outside the cone and faces that point away are culled first.
    Material, glass and weather have no effect, and volumes of air such as fog banks are not seen; a `Radar` adds
    physics. Nothing in sight is a valid reading. Errors of range, angles and range rate each: noise, further
    corruptions, faults, quantization, saturation. Points and speeds are computed from the corrupted values. An object
    out of sight has no value: noise adds none, a held reading may show no object or one that is gone, and a stuck value
    is reported also if nothing is in sight.

    Ref: physics.md 8, with the thesis's corrections E-21 to E-27.

    >>> scene = sn.Scene()
    >>> crate = scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((6.0, 0.2, 0.0)), label="crate", name="crate")
    >>> env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    >>> cone = sn.ConeSensor(timing=sn.Timing(rate_hz=10.0), horizontal_fov_deg=60, vertical_fov_deg=40, range_m=20.0)
    >>> sensor = env.attach(cone)
    >>> env.step()
    >>> sensor.read().range_m.round(3).item(), int(sensor.read().object_id)
    (5.5, 0)
    """

    targets: ClassVar[tuple[str, ...]] = ("range", "angles", "range_rate")
    hint_aliases: ClassVar[Mapping[str, str]] = {
        "angle_error_deg": "half_spacing_deg",
        "range_noise": "range.noise",
        "angle_noise": "angles.noise",
        "rate_noise": "range_rate.noise",
        "extra": "range.extra",
        "quantization": "range.quantization",
        "discrete": "range.quantization",
        "saturation": "range.saturation",
        "sat": "range.saturation",
    }

    kind: Literal["cone"] = "cone"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=20.0))
    """Clock; 20 Hz by default."""
    horizontal_fov_deg: float = Field(gt=0.0, lt=180.0)
    """Full angle of the cone from left to right [deg]."""
    vertical_fov_deg: float = Field(gt=0.0, lt=180.0)
    """Full angle from top to bottom [deg]."""
    range_m: float = Field(gt=0.0)
    """Length of the cone [m]."""
    lines: Annotated[int, Field(ge=2, le=1_000_000)] | Literal["exact"] = "exact"
    """Number of lines over each face, or "exact" for the nearest point of the face itself. Faces are quads, put
    together from triangles; lone triangles get lines that shrink to a corner."""
    half_spacing_deg: float | None = Field(default=None, gt=0.0, lt=90.0)
    """Uses only as many of the lines as keep half the angle between two of them, eq. 4.1, below this [deg]: fewer for
    small faces and far ones. That is the worst error of angle of a face whose nearest point is the perpendicular foot;
    if the cone cuts a face the error can be larger. None uses all."""
    front: Literal["flat", "spherical"] = "flat"
    """Whether `range_m` is a depth, as in the thesis, or a distance, as in Deng et al."""
    target: Literal["closest", "aabb_center"] = "closest"
    """Measured point of an object: its closest point in the cone, or, cheaper, the center of its mesh's bounding box,
    which must be in the cone."""
    occlusion: bool = False
    """Whether objects are left out whose closest point is behind another object, by one ray each. The nearest of all
    needs no such check with `lines="exact"`: an occluder would be nearer, and in the cone."""
    per_object: bool = False
    """Whether readings list every object in sight, `reading.objects`."""
    still_below_m_s: float = Field(default=0.05, ge=0.0)
    """A slower range rate than this is "still" to the verdict [m/s]."""
    verdict_window_s: float = Field(default=1.0, gt=0.0, le=60.0)
    """Longest window of the verdict [s]: it fits a line through the last ranges, as many as their scatter requires and
    at least three, so that noise does not flip it; see `Verdict`."""
    speed_interval: Literal["true", "nominal"] = "true"
    """Divisor of differences: the time between the samples, or the nominal period without jitter."""
    range: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of range [m]."""
    angles: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of azimuth and elevation [rad]."""
    range_rate: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of the range rate [m/s]."""

    @model_validator(mode="after")
    def _rules(self) -> "ConeSensor":
        if self.half_spacing_deg is not None and self.lines == "exact":
            raise ValueError(
                f"half_spacing_deg is {self.half_spacing_deg:g} with lines 'exact'; it must go with a number of lines"
            )
        if self.target == "aabb_center" and self.lines != "exact":
            raise ValueError(f"lines is {self.lines} with target 'aabb_center'; the middle of a box has no lines")
        return self

    @property
    def options(self) -> ConeOptions:
        """Search options of its caster."""
        return ConeOptions(
            horizontal_fov_deg=self.horizontal_fov_deg,
            vertical_fov_deg=self.vertical_fov_deg,
            range_m=self.range_m,
            lines=self.lines,
            half_spacing_deg=self.half_spacing_deg,
            front=self.front,
            target=self.target,
            occlusion=self.occlusion,
            per_object=self.per_object,
        )

    def start(self, rig: Rig) -> SampledModel[ConeReading]:
        """Put it to work."""
        period_s = 1.0 / required_rate_hz(self.timing)
        parts = []
        for number, (target, column, width, group) in enumerate(
            (
                ("range", cc.RANGE, 1, self.range),
                ("angles", cc.AZIMUTH, 2, self.angles),
                ("range_rate", cc.RANGE_RATE, 1, self.range_rate),
            )
        ):
            parts += group.channel_parts(
                width=width, period_s=period_s, faults=self.faults, target=target, column=column, group=number
            )
        interval_s = period_s if self.speed_interval == "nominal" else None
        rule = new_rule(self.verdict_window_s, period_s, self.still_below_m_s)
        signal = ConeSignal(rig, ConeCaster(rig, self.options), interval_s, rule)
        program = Program(parts, columns=signal.columns, period_s=period_s)
        readout = ConeReadout(signal, program) if program.acts else None
        return SampledModel(
            rig,
            self.timing,
            signal,
            program,
            lambda sample: ConeReading(sample, rig, per_object=self.per_object),
            readout=readout,
            hold=None if readout is None else readout.hold,
            looks_back=False,
        )


class ConeSignal:
    """The ideal channels; NaN if nothing is in sight, which noise leaves unchanged and a fault may hold."""

    columns = COLUMNS

    def __init__(self, rig: Rig, caster: ConeCaster, period_s: float | None, rule: Float) -> None:
        """Measure where the rig says.

        Args:
            rig: Mount of the sensors.
            caster: Finds the points in sight.
            period_s: Time that speeds are divided by [s]; None takes that between the samples.
            rule: Of verdicts, see `new_rule`.
        """
        rows = rig.worlds * rig.sensors
        self._rig, self._caster, self._period_s = rig, caster, period_s
        self._memory, self._before_ns = new_memory(rows, rule), 0
        self.rule = rule
        """Rule of the verdicts."""
        self.read_before = new_memory(rows, rule)
        """State of `ConeReadout` from the readings before."""
        self.object_id = np.full((rows, 1), -1, np.int32)
        """The nearest object at the last sample, or the one reported as such; -1 for none, shape (rows, 1)."""
        self.ideal = np.zeros((rows, COLUMNS))
        """The last sample."""
        self.interval_s = 0.0
        """Time that speeds were divided by at the last sample [s]."""

    def begin(self, time_ns: int) -> None:
        """Measuring starts now: there is no reading before."""
        self._memory[:, OBJECT] = self.read_before[:, OBJECT] = -1.0

    def forget(self) -> None:
        """Worlds that were reset just now have no reading before."""
        history = self._rig.history
        self._memory[np.repeat(history.valid_from_ns == history.newest.time_ns, self._rig.sensors), OBJECT] = -1.0

    def sample(self, time_ns: int, out: Float) -> tuple[Sighting, Sighting]:
        """The ideal sample at a time, shape (rows, COLUMNS), into out; gives all that is in sight, and the nearest."""
        found = self._caster.at(time_ns)
        nearest = found.nearest()
        self.interval_s = (time_ns - self._before_ns) * 1e-9 if self._period_s is None else self._period_s
        measure(
            nearest.point,
            nearest.range_m,
            nearest.range_rate,
            nearest.object_id,
            self.interval_s,
            self.rule,
            self._memory,
            out,
        )
        self._before_ns, self.object_id, self.ideal = time_ns, nearest.object_id, out
        return found, nearest


class ConeReadout:
    """Makes points and speeds of channels that errors have changed; a range that is held keeps its object."""

    def __init__(self, signal: ConeSignal, program: Program) -> None:
        self._signal, self._held = signal, Held(program, RANGE)

    def hold(
        self, state: State, active: NDArray[np.uint8] | None, sighted: tuple[Sighting, Sighting]
    ) -> tuple[Sighting, Sighting]:
        """All that is in sight, and the nearest; where a fault holds an older range, the object that it was of."""
        if not self._held.possible:
            return sighted
        found, nearest = sighted
        seen = {"object_id": nearest.object_id, "face_id": nearest.face_id}
        of = self._held.with_held(state, active, seen)
        if of is seen:
            return sighted
        self._signal.object_id = of["object_id"]
        return found, replace(nearest, object_id=of["object_id"], face_id=of["face_id"])

    def read(self, time_ns: int, x: Float, ideal: Float) -> None:
        """Work on the sample in place."""
        signal = self._signal
        derive(signal.ideal, signal.object_id, signal.interval_s, signal.rule, signal.read_before, x)

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """The masked rows have no reading before."""
        self._signal.read_before[rows, OBJECT] = -1.0
