"""Paths of bodies and joints by kind, with the parameters of the classes in `sn.paths`."""

from typing import Annotated, Any, Literal

from pydantic import Field

from sensorium.app.scenario.pose import InOrbit, PoseSpec
from sensorium.core.spec import Spec
from sensorium.physics.fields.gravity import EARTH_MU_M3_S2, GravitationalParameter
from sensorium.physics.fields.positions import Vector
from sensorium.worlds import paths


class MotionSpec(Spec):
    """A path of a body or a joint, of the class in `sn.paths` that has its name, from its fields except `kind`."""

    def make(self) -> Any:
        """The path."""
        return getattr(paths, type(self).__name__)(**{name: value for name, value in self if name != "kind"})


class Fixed(MotionSpec):
    """A body that stays where it is."""

    kind: Literal["fixed"]
    pose: PoseSpec = PoseSpec()
    """Position."""

    def make(self) -> paths.Path:
        """The path."""
        return paths.Fixed(self.pose.make())


class Line(MotionSpec):
    """Straight motion at constant velocity."""

    kind: Literal["line"]
    start: Vector = (0.0, 0.0, 0.0)
    """Position at t = 0 [m]."""
    velocity: Vector
    """[m/s]."""
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Constant attitude of the body in the world, w, x, y, z."""


class Circle(MotionSpec):
    """Motion round a horizontal circle."""

    kind: Literal["circle"]
    center: Vector
    """[m]."""
    radius: float
    """[m]."""
    rate: float
    """[rad/s], anticlockwise seen from above."""
    phase: float = 0.0
    """Angle at t = 0 [rad]."""
    heading: bool = True
    """Whether the body's x axis turns along its way."""


class Spin(MotionSpec):
    """Turning in place about a fixed axis."""

    kind: Literal["spin"]
    position: Vector = (0.0, 0.0, 0.0)
    """[m]."""
    axis: Vector
    """Rotation axis, of any length."""
    rate: float
    """[rad/s]."""
    phase: float = 0.0
    """Angle at t = 0 [rad]."""


class Waypoints(MotionSpec):
    """A smooth path through given poses, at rest before and after."""

    kind: Literal["waypoints"]
    times_s: tuple[float, ...]
    """Increasing [s]."""
    poses: tuple[PoseSpec, ...]
    """One for each time."""

    def make(self) -> paths.Path:
        """The path."""
        return paths.Waypoints(self.times_s, [pose.make() for pose in self.poses])


class Orbit(InOrbit, MotionSpec):
    """Free fall round a point mass at the world's origin, turning freely."""

    kind: Literal["orbit"]
    mu: GravitationalParameter = EARTH_MU_M3_S2
    """Gravitational constant times the planet's mass [m^3/s^2]."""
    inertia_ratio: Annotated[float, Field(ge=0.0, le=2.0)] = 1.0
    """Moment of inertia about the body's z axis over that about its x and y axes."""

    def make(self) -> paths.Path:
        """The path."""
        position, velocity = self.start(self.mu)
        return paths.Orbit(
            position,
            velocity,
            mu=self.mu,
            quaternion=self.attitude(),
            rate=self.rate,
            inertia_ratio=self.inertia_ratio,
        )


Motion = Annotated[Fixed | Line | Circle | Spin | Waypoints | Orbit, Field(discriminator="kind")]
"""Any path of a body, selected by its `kind`."""


class JointLine(MotionSpec):
    """A joint that turns or slides evenly."""

    kind: Literal["line"]
    start: float = 0.0
    """Position at t = 0 [rad or m]."""
    velocity: float = 0.0
    """[rad/s or m/s]."""


class JointSine(MotionSpec):
    """A joint that swings."""

    kind: Literal["sine"]
    amplitude: float
    """[rad or m]."""
    rate: float
    """Angular frequency [rad/s]."""
    offset: float = 0.0
    """Mean position [rad or m]."""
    phase: float = 0.0
    """[rad]."""


JointMotion = Annotated[JointLine | JointSine, Field(discriminator="kind")]
"""Any path of a joint, selected by its `kind`."""
