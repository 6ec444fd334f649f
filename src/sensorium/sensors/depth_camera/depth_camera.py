"""Depth camera: distances, labels, normals, flow and colors of a moving world, for thousands of worlds at once."""

from collections.abc import Set as AbstractSet
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ConfigDict, Field, field_serializer, field_validator, model_validator

from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.spec import Spec
from sensorium.sensors.common.randomization import Projection, Randomization
from sensorium.sensors.common.range_values import check_range_values, range_values
from sensorium.sensors.common.spec import Capture, Rig, SensorSpec, Timing
from sensorium.sensors.common.unused_options import refuse_set
from sensorium.sensors.depth_camera import faults as depth_faults
from sensorium.sensors.depth_camera.errors import STAGES, AnyDepthError
from sensorium.sensors.depth_camera.image import DepthImage

Output = Literal[
    "depth", "range", "points", "segmentation", "object_id", "face_id", "normals", "flow", "scene_flow", "color"
]


class DepthNoise(Spec):
    """The noise of the Aerial Gym simulator's cameras: proportional to distance, and pixels that drop out."""

    model_config = ConfigDict(frozen=True)

    multiplier: float = Field(default=0.0, ge=0.0)
    """k of r' = r + k r N(0, 1) [1]."""
    dropout: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a pixel has no measurement [1]."""
    dropped: Literal["zero", "near"] = "zero"
    """Value of a dropped pixel: 0, or the value for too near."""


class DepthCamera(SensorSpec[DepthImage]):
    """A depth camera, ideal or with the errors of real ones; it looks along the sensor's x axis, with z up.

    One ray goes through the center of each pixel, all at once or row by row (`pattern.line_time_s`). Only the requested
    `outputs` are computed. Distances are processed in this order: `errors`, `noise`, `faults`, limits, `normalize`;
    labels, normals, flow and colors are those of the surface that the ray hits within `max_range_m`.

    Limits apply to the range along the ray, so that all outputs agree on what is visible; a surface nearer than the
    least range occludes the background and shows as `near_value_m`.

    >>> scene = sn.Scene()
    >>> wall = scene.add(sn.shapes.box(1, 50, 50), pose=sn.Pose((4.5, 0, 0)), label="wall")
    >>> camera = sn.DepthCamera(
    ...     pattern=sn.patterns.Pinhole.from_fov(64, 48, 87.0, rate_hz=10),
    ...     outputs={"depth", "segmentation"},
    ...     max_range_m=20.0,
    ... )
    >>> env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    >>> sensor = env.attach(camera)
    >>> env.step()
    >>> image = sensor.read()
    >>> image.depth_m.shape, image.depth_m.mean().round(3).item(), int(image.segmentation.min())
    ((48, 64), 4.0, 1)
    """

    targets: ClassVar[tuple[str, ...]] = (depth_faults.TARGET,)

    kind: Literal["depth_camera"] = "depth_camera"
    pattern: Projection
    """Pixels and lens: `sn.patterns.Pinhole` or `sn.patterns.Fisheye`; images come at its rate."""
    timing: Timing = Timing()
    """Phase and latency; the rate is the pattern's."""
    outputs: Annotated[AbstractSet[Output], Field(min_length=1), AfterValidator(frozenset)] = frozenset({"depth"})
    """Images to compute; see `DepthImage`."""
    frame: Literal["sensor", "world"] = "sensor"
    """Frame of points, normals and scene flow."""
    min_range_m: float = Field(default=0.2, ge=0.0)
    """Least range that is measured [m]."""
    max_range_m: float = Field(default=10.0, gt=0.0)
    """Greatest range [m]."""
    near_value_m: float | None = None
    """Value of depth and range below the least range [m]; None is minus the greatest range, -1 when normalized."""
    far_value_m: float | None = None
    """Value of depth and range without a hit up to the greatest range [m]; None is that range, 1 when normalized."""
    normalize: bool = False
    """Whether depth, range and points in the sensor frame are fractions of the greatest range."""
    errors: tuple[AnyDepthError, ...] = ()
    """Errors of the device, in order."""
    noise: DepthNoise = DepthNoise()
    randomize: Randomization | None = None
    """Parameters that differ from world to world."""

    @field_validator("errors", mode="before")
    @classmethod
    def _several(cls, errors: Any) -> Any:
        if isinstance(errors, Spec):  # which could be iterated field by field as well
            raise ValueError(f"errors is a single {type(errors).__name__}; it must be a list of errors")
        return errors

    @model_validator(mode="after")
    def _consistent(self) -> "DepthCamera":
        if self.min_range_m >= self.max_range_m:
            raise ValueError(
                f"min_range_m is {self.min_range_m} and max_range_m {self.max_range_m}; the first must be smaller"
            )
        check_range_values(self)
        moving = sorted({"flow", "scene_flow"} & self.outputs)
        if moving and self.pattern.line_time_s:
            raise ValueError(
                f"outputs has {moving[0]!r} with pattern.line_time_s {self.pattern.line_time_s}; "
                "flow is that of an image taken at once"
            )
        if self.timing.jitter_s:
            raise ValueError(f"timing.jitter_s is {self.timing.jitter_s}; a depth camera has no jitter")
        if self.timing.rate_hz is not None and self.timing.rate_hz != self.pattern.rate_hz:
            raise ValueError(
                f"timing.rate_hz is {self.timing.rate_hz}; images come at the pattern's rate, {self.pattern.rate_hz}"
            )
        if not {"range", "depth", "points"} & self.outputs:
            measured = f"and outputs is {sorted(self.outputs)}; range, depth or points must be among them"
            if self.faults.corrupt:
                raise ValueError(f"a fault has a corruption {measured} for it to strike")
            if self.errors:
                raise ValueError(f"errors has {self.errors[0].kind!r} {measured} for it to act")
            refuse_set(self, "noise.multiplier", f"{measured} for it to act")
        lenses = [self.pattern, *(() if self.randomize is None else self.randomize.projections)]
        for error in self.errors:
            for lens in lenses:
                STAGES[type(error)].check(error, lens)
        if self.errors and self.pattern.line_time_s:
            raise ValueError(f"errors has {self.errors[0].kind!r} with a rolling shutter; it must have line_time_s 0")
        if self.randomize is not None:
            self.randomize.check(self.pattern)
        return self

    @field_serializer("outputs")
    def _in_order(self, outputs: AbstractSet[Output]) -> list[Output]:
        return sorted(outputs)

    @property
    def near_m(self) -> float:
        """Value below the least range [m]."""
        return range_values(self).near_m

    @property
    def far_m(self) -> float:
        """Value where nothing is hit [m]."""
        return range_values(self).far_m

    @property
    def dropped_m(self) -> float:
        """Value where there is no measurement [m]."""
        return 0.0 if self.noise.dropped == "zero" else self.near_m

    @property
    def can_drop(self) -> bool:
        """Whether a pixel may have no measurement where a surface is within the limits."""
        return bool(self.noise.dropout or self.errors or self.faults.corrupt)

    @property
    def scale_m(self) -> float:
        """Length of one unit of depth, range and points in the sensor frame [m]."""
        return range_values(self).scale_m

    def start(self, rig: Rig) -> "DepthCameraModel":
        """Create the attached camera."""
        return DepthCameraModel(self, rig)


class DepthCameraModel:
    """A depth camera attached to an environment."""

    def __init__(self, spec: DepthCamera, rig: Rig) -> None:
        from sensorium.sensors.depth_camera.caster import (
            DepthCaster,  # imported on use: its kernels load slowly
        )

        self._rate = Rate(spec.pattern.rate_hz, seconds_to_ns(spec.timing.phase_s))
        self._caster = DepthCaster(spec, rig)
        self._next_tick, self._next_end_ns = 0, -1
        # Flow refers to the previous image
        self._past_ns = self._caster.duration_ns + (self._caster.period_ns if "flow" in spec.outputs else 0)

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> list[Capture[DepthImage]]:
        """Images whose last row was taken after one time and up to another."""
        captures: list[Capture[DepthImage]] = []
        duration_ns, tick, end_ns = self._caster.duration_ns, self._next_tick, self._next_end_ns
        if end_ns <= after_ns:  # at the beginning, or switched off for a while
            tick = self._rate.first_after(after_ns - duration_ns)
            end_ns = self._rate.time_ns(tick) + duration_ns
        while end_ns <= upto_ns:
            if end_ns - duration_ns >= since_ns:
                image, truth = self._caster.take(end_ns - duration_ns, tick, since_ns)
                captures.append(Capture(end_ns, image, truth, tick))
            tick += 1
            end_ns = self._rate.time_ns(tick) + duration_ns
        self._next_tick, self._next_end_ns = tick, end_ns
        return captures

    def due_ns(self, now_ns: int) -> int:
        """The end of the next image, once those up to now were taken."""
        return self._next_end_ns

    def needs_from_ns(self, now_ns: int) -> int:
        """The earliest time still needed: the start of the current image, or of the one before."""
        return now_ns - self._past_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Draw random values again where worlds restart; the history marks rays fired before a reset as void."""
        self._caster.restart(mask)
