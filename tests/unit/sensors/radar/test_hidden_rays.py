"""What other objects hide of a target: by area, and nothing where only its own parts are in front."""

import numpy as np
import pytest

import sensorium as sn


def boxes_at_random(rng, count):
    """Boxes in the field, as half sizes, positions and rotations."""
    half = rng.uniform(0.3, 1.2, (count, 3))
    azimuth, distance = np.radians(rng.uniform(-6.0, 6.0, count)), rng.uniform(14.0, 40.0, count)
    place = np.stack([distance * np.cos(azimuth), distance * np.sin(azimuth), rng.uniform(-0.5, 0.5, count)], axis=-1)
    quaternion = rng.normal(size=(count, 4))
    return half, sn.Pose(place, quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True))


def first_ranges(half, pose, direction):
    """Where rays from the origin meet a box first, inf where they do not."""
    origin, d = pose.inverse().apply(np.zeros(3)), direction @ pose.rotation
    one, other = (-half - origin) / d, (half - origin) / d
    near, far = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
    return np.where((near <= far) & (near > 0.0), near, np.inf)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_hidden_is_missing_by_its_area(truth_of, seed):
    """Seven boxes before and behind each other, against rays of the test's own through boxes by their sides."""
    rng = np.random.default_rng(seed)
    half, poses = boxes_at_random(rng, 7)
    scene = sn.Scene()
    stated = {f"box{n}": float(10.0 ** rng.uniform(-1, 2)) for n in range(5)}
    for n, size in enumerate(half):
        scene.add(sn.shapes.box(*(2.0 * size)), pose=poses[n], name=f"box{n}")  # two are not stated, and hide too
    truth = truth_of(scene, cross_sections=stated, ray_spacing_deg=0.1, horizontal_fov_deg=30.0)
    azimuth, elevation = np.meshgrid(np.radians(np.arange(-15, 15, 0.03)), np.radians(np.arange(-10, 10, 0.03)))
    level = np.cos(elevation)
    unit = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=-1)
    ranges = np.stack([first_ranges(half[n], poses[n], unit) for n in range(7)])
    nearest = ranges.argmin(axis=0)
    seen = dict(zip(truth.object_id.tolist(), truth.cross_section_m2.tolist(), strict=True))
    for n in range(5):
        met = np.isfinite(ranges[n])
        area = np.where(met, ranges[n] ** 2 * level, 0.0)
        share = area[nearest == n].sum() / area.sum()
        assert seen.get(n, 0.0) / stated[f"box{n}"] == pytest.approx(share, abs=0.02)
        if (nearest[met] == n).all():
            assert seen[n] == pytest.approx(stated[f"box{n}"], rel=1e-9)


@pytest.mark.parametrize("distance", [8.0, 100.0])
@pytest.mark.parametrize("hidden", [0.25, 0.5, 0.8])
def test_half_of_it_hidden_is_half_of_it_near_and_far(truth_of, distance, hidden):
    """A sheet of 1 m x 1 m; at 100 m a handful of rays meet it, and 32 are aimed."""
    scene = sn.Scene()
    facing = sn.Pose.from_euler_deg(position=(distance, 0.0, 0.0), pitch=-90.0)
    scene.add(sn.shapes.plane(1.0, 1.0), pose=facing, name="sheet")
    edge = (0.5 - hidden) * 0.5
    scene.add(sn.shapes.box(0.01, 2.0, 2.0), pose=sn.Pose((0.5 * distance, edge + 1.0, 0.0)), name="screen")
    truth = truth_of(scene, cross_sections={"sheet": 20.0}, ray_spacing_deg=0.1 if distance < 10.0 else 0.5)
    found = dict(zip(truth.object_id.tolist(), truth.cross_section_m2.tolist(), strict=True))
    assert found[0] / 20.0 == pytest.approx(1.0 - hidden, abs=0.02 if distance < 10.0 else 0.08)


@pytest.mark.parametrize("size", [0.1, 2.0])
def test_what_is_all_hidden_sends_nothing(truth_of, size):
    scene = sn.Scene()
    scene.add(sn.shapes.box(size, size, size), pose=sn.Pose((30.0, 0.0, 0.0)), name="behind")
    scene.add(sn.shapes.box(0.1, 8.0, 8.0), pose=sn.Pose((15.0, 0.0, 0.0)), name="wall")
    assert 0 not in truth_of(scene, cross_sections={"behind": 50.0}).object_id


@pytest.mark.parametrize("source", ["rays", "cone"])
def test_parts_that_hide_each_other_are_one_target(truth_of, source):
    """A car of five parts: of the wheels two are behind the others, and the cabin covers what is in it."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(4.0, 1.8, 0.8), pose=sn.Pose((30, 0, 0.3)), body="car", label="car")
    for x in (28.8, 31.2):
        for y in (-0.8, 0.8):
            scene.add(sn.shapes.box(0.6, 0.2, 0.6), pose=sn.Pose((x, y, -0.2)), body="car", label="car")
    truth = truth_of(scene, bodies=("car",), source=source)
    assert truth.cross_section_m2.sum() == pytest.approx(10.0, rel=1e-9)
    assert truth.valid.sum() >= (3 if source == "rays" else 1)
