"""A yard between buildings: its fixed objects, and those on moving bodies.

The world frame has its origin in the middle of the yard, x to the east, y to the north, z up; the yard is
76 m by 50 m.
"""

import math

import numpy as np

import sensorium as sn
from sensorium.qa.demo import models

PICTURE_M = (-40.0, 40.0, -26.5, 28.0)
"""Bounds of a picture of the yard [m]: x from and to, y from and to."""


HOUSE_FRONT: tuple[models.Opening, ...] = (
    (1.5, 3.0, 1.0, 2.4),
    (5.0, 6.2, 0.2, 2.3),
    (8.0, 9.5, 1.0, 2.4),
    (12.0, 13.5, 1.0, 2.4),
)
"""Windows and the door of the house towards the yard [m]."""


def yard_scene() -> sn.Scene:
    """The whole scene. Labels name the classes; `body` names the carrier of an object."""
    scene = sn.Scene()
    _add_ground(scene)
    _add_buildings(scene)
    _add_plants_and_lamps(scene)
    _add_parked_cars(scene)
    _add_glass_mirror_and_fog(scene)

    # Moving objects: their poses are in a world that has bodies of these names
    scene.add(models.van(), body="van", label="car")
    scene.add(models.car(), body="visitor", label="car")
    scene.add(models.cyclist(), body="cyclist", label="cyclist")
    scene.add(models.pedestrian(), body="pedestrian", label="pedestrian")
    return scene


def _add_ground(scene: sn.Scene) -> None:
    """Paving that is a few centimeters uneven, a round island and raised walkways along two sides."""
    x, y = np.meshgrid(np.linspace(-60, 60, 241), np.linspace(-40, 40, 161), indexing="ij")
    heights = 0.04 * np.sin(0.35 * x + 0.2 * y) * np.cos(0.27 * y) - 0.05
    scene.add(sn.shapes.heightfield(heights, 120.0, 80.0), label="ground")

    # Slabs that rise 15 to 20 cm above the ground
    scene.add(sn.shapes.cylinder(5.5, 0.4), label="kerb")
    for y_walk in (18.0, -23.0):
        scene.add(sn.shapes.box(72.0, 4.0, 0.4), pose=sn.Pose(position=(0.0, y_walk, -0.05)), label="kerb")


def _add_buildings(scene: sn.Scene) -> None:
    """A hall with open gates to the north, a house to the west, and a garden wall round the rest."""

    def wall(x: float, y: float, yaw: float, length: float, height: float, *openings: models.Opening) -> None:
        mesh = models.wall(length, height, openings=openings)
        scene.add(mesh, pose=sn.Pose.from_euler_deg((x, y, 0.0), yaw=yaw), label="building")

    # The hall: two gates and a row of windows, pillars inside
    gates = [(6.0, 11.0, 0.0, 4.0), (14.0, 16.0, 1.2, 2.8), (18.0, 20.0, 1.2, 2.8), (23.0, 28.0, 0.0, 4.0)]
    wall(-14.0, 20.5, 0.0, 34.0, 6.5, *gates)
    wall(-14.0, 32.0, 0.0, 34.0, 6.5)
    wall(-14.0, 20.5, 90.0, 11.5, 6.5)
    wall(20.0, 20.5, 90.0, 11.5, 6.5)
    for x in (-6.0, 3.0, 12.0):
        scene.add(sn.shapes.box(0.5, 0.5, 6.5), pose=sn.Pose(position=(x, 26.0, 3.25)), label="building")

    # The house: a door and windows on both sides that face the yard
    wall(-25.0, -9.0, 90.0, 15.0, 5.0, *HOUSE_FRONT)
    wall(-36.0, 6.0, 0.0, 11.0, 5.0, (2.0, 3.5, 1.0, 2.4), (6.5, 8.0, 1.0, 2.4))
    wall(-36.0, -9.0, 0.0, 11.0, 5.0)
    wall(-36.0, -9.0, 90.0, 15.0, 5.0)

    # The garden wall, with the gate that visitors come through
    wall(38.0, -25.0, 90.0, 50.0, 2.2, (24.0, 32.0, 0.0, 2.2))
    wall(-38.0, -25.0, 0.0, 76.0, 2.2, (30.0, 33.0, 0.0, 2.2))
    wall(-38.0, -25.0, 90.0, 50.0, 2.2)
    wall(-38.0, 25.0, 0.0, 24.0, 2.2)
    wall(20.0, 25.0, 0.0, 18.0, 2.2)


def _add_glass_mirror_and_fog(scene: sn.Scene) -> None:
    """Panes in the house's front, a tall mirror on the hall between window and gate, and a fog bank in the east."""
    window = sn.materials.load("window")
    for left, right, low, high in HOUSE_FRONT:
        pane = models.at(
            sn.shapes.plane(high - low, right - left), 0.0, 0.5 * (left + right), 0.5 * (low + high), pitch=90.0
        )
        scene.add(pane, pose=sn.Pose(position=(-25.0, -9.0, 0.0)), material=window, label="glass")
    mirror = sn.shapes.box(5.0, 0.04, 3.0)
    scene.add(mirror, pose=sn.Pose(position=(17.2, 20.3, 1.7)), material=sn.materials.load("mirror"), label="mirror")
    bank = sn.shapes.box(9.0, 15.0, 3.5)
    scene.add(bank, pose=sn.Pose(position=(33.0, -9.0, 1.7)), material=sn.media.fog(visibility_m=25.0), label="fog")


def _add_plants_and_lamps(scene: sn.Scene) -> None:
    """Trees and lamps: many objects share one mesh, and so cost the memory of one."""
    tall, small, lamp = models.tree(7.0), models.tree(4.5), models.lamp()
    groves = [
        (tall, [(1.5, 2.0), (-2.5, -1.0), (30.5, 20.5), (-31.0, 14.5), (33.0, -19.5)]),
        (small, [(2.2, -2.6), (25.5, 21.5), (-25.0, 21.5), (-33.5, 20.0)]),
        (small, [(-12.0, -23.5), (-1.0, -23.5), (10.0, -23.5)]),
    ]
    for mesh, places in groves:
        for k, (x, y) in enumerate(places):
            scene.add(mesh, pose=sn.Pose.from_euler_deg((x, y, 0.0), yaw=77.0 * k), label="tree")
    for y, yaw in [(16.6, -90.0), (-21.4, 90.0)]:
        for x in (-18.0, 3.0, 24.0):
            scene.add(lamp, pose=sn.Pose.from_euler_deg((x, y, 0.0), yaw=yaw), label="pole")

    # Bollards guard the island
    bollard = sn.shapes.cylinder(0.11, 1.1, segments=24)
    for angle in np.radians(np.arange(0.0, 360.0, 30.0)):
        place = (7.5 * math.cos(angle), 7.5 * math.sin(angle), 0.5)
        scene.add(bollard, pose=sn.Pose(position=place), label="pole")


def _add_parked_cars(scene: sn.Scene) -> None:
    """A row of parked vehicles along the south side, with gaps, and a few to the east."""
    car, estate, van = models.car(), models.car(length=4.9), models.van()
    rows = [(car, (-20.0, -8.0, 7.0, 10.0)), (estate, (-14.0, -5.0, 16.0)), (van, (-17.0, 4.0))]
    for mesh, places in rows:
        for x in places:
            scene.add(mesh, pose=sn.Pose.from_euler_deg((x, -17.8, 0.0), yaw=90.0), label="car")
    for y, mesh in [(-14.0, estate), (-11.0, car), (-5.0, van), (12.0, car)]:
        scene.add(mesh, pose=sn.Pose.from_euler_deg((33.5, y, 0.0), yaw=180.0), label="car")
