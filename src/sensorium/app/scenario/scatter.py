"""Objects scattered at random, as written in a scenario file."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from sensorium.app.scenario.document import Document, Files
from sensorium.app.scenario.scene import ObjectSpec, SceneSpec
from sensorium.core.spec import Spec
from sensorium.physics.fields.positions import Vector
from sensorium.scene.batch import SceneBatch
from sensorium.scene.scattering.scatter import ClearZone, Scatter, scattered_objects
from sensorium.scene.scene import Scene, SceneObject

Point = tuple[float, float]
Angles = tuple[float, float]


class ClearZoneSpec(Spec):
    """A corridor, seen from above, that objects must not reach into."""

    points: Annotated[tuple[Point, ...], Field(min_length=1)]
    """x, y of the points along it [m]; one is a place."""
    radius_m: Annotated[float, Field(ge=0.0)]
    """Least distance of objects from it [m]."""


class ScatterSpec(Spec):
    """A number of assets, each at its own random pose; different in every world."""

    assets: Annotated[tuple[ObjectSpec, ...], Field(min_length=1)]
    """The assets, chosen equally often; poses are relative to the slot."""
    count: Annotated[int, Field(ge=1)] | tuple[int, int]
    """Number, or least and greatest number."""
    low: Vector
    """Corner of the region [m]."""
    high: Vector
    """The corner opposite [m]."""
    yaw_deg: Angles = (-180.0, 180.0)
    """Least and greatest angle about z [deg]."""
    pitch_deg: Angles = (0.0, 0.0)
    """Likewise about y [deg]."""
    roll_deg: Angles = (0.0, 0.0)
    """Likewise about x [deg]."""
    gap_m: Annotated[float, Field(ge=0.0)] | None = None
    """Least distance from objects scattered before [m]; by default they may overlap."""
    room_m: Annotated[float, Field(ge=0.0)] | None = None
    """Radius of the room that each takes up [m], such as that of a trunk; by default that of its mesh."""
    clear: tuple[ClearZoneSpec, ...] = ()
    """Areas that they must not reach into."""
    body: tuple[str, ...] | None = None
    """Bodies that carry them, one for each of count."""
    when_full: Literal["raise", "leave out"] = "raise"
    """What to do with an object that finds no free place."""

    def make(self, files: Files) -> Scatter:
        """The scatter."""
        return Scatter(
            assets=[_made(asset, files) for asset in self.assets],
            count=self.count,
            low=self.low,
            high=self.high,
            yaw_deg=self.yaw_deg,
            pitch_deg=self.pitch_deg,
            roll_deg=self.roll_deg,
            gap_m=self.gap_m,
            room_m=self.room_m,
            clear=[ClearZone(zone.points, zone.radius_m) for zone in self.clear],
            body=self.body,
            when_full=self.when_full,
        )


class StrewnSceneSpec(SceneSpec):
    """The scene, and its randomly scattered objects."""

    scatter: tuple[ScatterSpec, ...] = ()
    """Objects at random places, one group after the other; with `worlds`, each world has its own."""


def with_scatters(
    scene: Scene, scatters: Sequence[ScatterSpec], files: Files, document: Document, *, worlds: int | None, seed: int
) -> Scene | SceneBatch:
    """A scene with scattered objects: the scene itself for one world, else a batch with a row for each.

    Args:
        scene: Objects of every world.
        scatters: The scattered objects.
        files: Folder of the scenario.
        document: Gives the places of errors.
        worlds: How many worlds; None is one without an axis.
        seed: Of the places.
    """
    if not scatters:
        return scene
    made = []
    for number, each in enumerate(scatters):
        with document.blamed("scene", "scatter", number):
            made.append(each.make(files))
    with document.blamed("scene", "scatter"):
        if worlds is not None:
            return SceneBatch.scattered(made, worlds=worlds, seed=seed, shared=scene)
        for thing in scattered_objects(made, seed=seed):
            scene.add(thing.mesh, pose=thing.pose, body=thing.body, material=thing.material, label=thing.label)
    return scene


def _made(asset: ObjectSpec, files: Files) -> SceneObject:
    """An asset as an object."""
    alone = Scene()
    asset.add_to(alone, files)
    return alone.objects[0]
