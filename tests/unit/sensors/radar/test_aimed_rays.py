"""Targets between the rays of a bundle: met by rays of their own, wherever they are in the field."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.radar.aimed_rays import _spread


def test_rods_and_sheets_seen_edge_on_are_met(truth_of):
    """What no ray of the bundle can find: a wire 1 mm thick, and a sheet of no thickness seen along it."""
    scene = sn.Scene()
    scene.add(sn.shapes.cylinder(0.0005, 1.0), pose=sn.Pose((20.0, 3.0, 0.0)), name="wire")
    scene.add(sn.shapes.plane(1.0, 1.0), pose=sn.Pose((20.0, 0.0, 0.0)), name="sheet")
    truth = truth_of(scene, cross_sections={"wire": 2.0, "sheet": 5.0})
    found = dict(zip(truth.object_id.tolist(), truth.cross_section_m2.tolist(), strict=True))
    assert found == pytest.approx({0: 2.0, 1: 5.0}, rel=1e-9)


def test_what_is_out_of_the_field_or_too_far_or_passed_through_is_not_aimed_at(truth_of):
    scene = sn.Scene()
    for number, place in enumerate([(20.0, 40.0, 0.0), (20.0, 0.0, 8.0), (-20.0, 0.0, 0.0), (310.0, 0.0, 0.0)]):
        scene.add(sn.shapes.box(0.2, 0.2, 0.2), pose=sn.Pose(place), name=f"out{number}")
    scene.add(sn.shapes.box(0.2, 0.2, 0.2), pose=sn.Pose((3.0, 0.0, 0.0)), body="own", name="own")
    scene.add(sn.shapes.box(0.2, 0.2, 0.2), pose=sn.Pose((60.0, 0.0, 0.0)), name="seen")
    names = [*(f"out{n}" for n in range(4)), "own", "seen"]
    spec = {"cross_sections": dict.fromkeys(names, 5.0), "ray_spacing_deg": 3.0}
    assert truth_of(scene, bodies=("own",), hide=("own",), **spec).object_id.tolist() == [5]


@pytest.mark.parametrize("seed", range(6))
def test_points_are_spread_evenly_over_a_surface(seed):
    """Each stands for an equal area, lies on its face, and they have the middle of the whole."""
    rng = np.random.default_rng(seed)
    mesh = [sn.shapes.box(*rng.uniform(0.1, 3.0, 3)), sn.shapes.sphere(rng.uniform(0.1, 2.0), subdivisions=3)][seed % 2]
    spread = _spread(mesh)
    corners = mesh.vertices[mesh.faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    np.testing.assert_allclose(np.linalg.norm(spread[:, 3:6], axis=1), area.sum() / len(spread))
    off = np.linalg.norm(np.ptp(mesh.vertices, axis=0))
    assert np.linalg.norm(spread[:, :3].mean(axis=0)) < 0.1 * off
    normal = spread[:, 3:6] / np.linalg.norm(spread[:, 3:6], axis=1, keepdims=True)
    planes = np.abs(((spread[:, None, :3] - corners[None, :, 0]) * normal[:, None]).sum(axis=-1))
    assert planes.min(axis=1).max() < 1e-9 * off
