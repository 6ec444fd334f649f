"""Spacecraft simulated by Basilisk, as written in a scenario file."""

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.app.scenario.document import Files
from sensorium.app.scenario.pose import InOrbit
from sensorium.app.scenario.worlds import StepLength, WorldSpec
from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.physics.fields import J2Gravity, PointMassGravity
from sensorium.physics.fields.positions import Vector
from sensorium.worlds import Basilisk, World

Moment = Annotated[float, Field(gt=0.0)]
"""Moment of inertia [kg m^2]."""


class SpacecraftSpec(InOrbit):
    """A rigid spacecraft whose axes are its principal axes; its body's origin is the center of mass."""

    mass: Annotated[float, Field(gt=0.0)]
    """[kg]."""
    inertia: tuple[Moment, Moment, Moment]
    """About x, y and z [kg m^2]."""
    force: Vector = (0.0, 0.0, 0.0)
    """That acts on the center of mass all the time, in body axes [N]: a thruster, or drag."""
    torque: Vector = (0.0, 0.0, 0.0)
    """Likewise [N m]."""

    @model_validator(mode="after")
    def _possible(self) -> "SpacecraftSpec":
        if 2.0 * max(self.inertia) > sum(self.inertia) * (1.0 + 1e-12):
            raise ValueError(f"inertia is {self.inertia}; no moment may exceed the sum of the other two")
        return self


class BasiliskSpec(WorldSpec):
    """Spacecraft round a planet, simulated by Basilisk in a frame that does not turn, with the planet at its origin."""

    engine: ClassVar[str | None] = "Basilisk"

    kind: Literal["basilisk"]
    step_s: StepLength = 0.1
    """Of the dynamics (Runge-Kutta of fourth order) and of the world [s]."""
    gravity: Annotated[PointMassGravity | J2Gravity, Field(discriminator="kind")] = PointMassGravity()
    """Of the planet, by default the Earth's as a point mass; that of a scenario itself is not used here."""
    spacecraft: dict[str, SpacecraftSpec] = Field(min_length=1)
    """By name."""

    def make(self, files: Files) -> World:
        """The world."""
        if any(self.gravity.center):
            raise SpecError(f"gravity.center is {self.gravity.center}; Basilisk's planet is at the origin")
        from Basilisk.utilities import SimulationBaseClass, macros

        sim = SimulationBaseClass.SimBaseClass()
        task = sim.CreateNewTask("dynamics", macros.sec2nano(self.step_s))
        sim.CreateNewProcess("spacecraft").addTask(task)
        bodies = {}
        for name, spec in self.spacecraft.items():
            craft, keep = _spacecraft(name, spec, self.gravity)
            sim.AddModelToTask("dynamics", craft, 1)
            bodies[name] = craft.scStateOutMsg
            setattr(sim, f"kept_{len(bodies)}", (craft, keep))  # Basilisk itself holds no reference to its parts
        return Basilisk(sim, bodies, step_s=self.step_s)


def _spacecraft(name: str, spec: SpacecraftSpec, gravity: PointMassGravity | J2Gravity) -> tuple[Any, Any]:
    """A Basilisk spacecraft at its start, and objects that must be kept alive with it."""
    from Basilisk.simulation import extForceTorque, spacecraft
    from Basilisk.utilities import simIncludeGravBody

    craft = spacecraft.Spacecraft()
    craft.ModelTag = name
    craft.hub.mHub = spec.mass
    craft.hub.IHubPntBc_B = np.diag(spec.inertia).tolist()
    position, velocity = spec.start(gravity.mu)
    craft.hub.r_CN_NInit, craft.hub.v_CN_NInit = _column(position), _column(velocity)
    craft.hub.sigma_BNInit, craft.hub.omega_BN_BInit = _column(mrp_of(spec.attitude())), _column(spec.rate)

    # The planet, and the forces
    bodies = simIncludeGravBody.gravBodyFactory()
    planet = bodies.createCustomGravObject("planet", mu=gravity.mu)
    planet.isCentralBody = True
    model = None
    if isinstance(gravity, J2Gravity):
        model = _harmonics(gravity)
        planet.radEquator, planet.gravityModel = gravity.radius_m, model
    bodies.addBodiesTo(craft)
    push = extForceTorque.ExtForceTorque()
    push.extForce_B, push.extTorquePntB_B = _column(spec.force), _column(spec.torque)
    craft.addDynamicEffector(push)
    return craft, (bodies, planet, model, push)


def _harmonics(gravity: J2Gravity) -> Any:
    """Basilisk's gravity model with one harmonic beside the point mass: C_20 = -J2, normalized by sqrt(5)."""
    from Basilisk.simulation import gravityEffector

    model = gravityEffector.SphericalHarmonicsGravityModel()
    model.muBody, model.radEquator, model.maxDeg = gravity.mu, gravity.radius_m, 2
    model.cBar = [[1.0], [0.0, 0.0], [-gravity.j2 / math.sqrt(5.0), 0.0, 0.0]]
    model.sBar = [[0.0], [0.0, 0.0], [0.0, 0.0, 0.0]]
    return model


def mrp_of(quaternion: Float) -> Float:
    """Modified Rodrigues parameters of a unit quaternion w x y z, shape (3,): v / (1 + w) for the shorter turn."""
    q = quaternion if quaternion[0] >= 0.0 else -quaternion
    return q[1:] / (1.0 + q[0])


def _column(values: Any) -> list[list[float]]:
    return [[float(value)] for value in values]
