"""Cross-sections from rays: as stated at any range, size and density of rays, less what other objects hide."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.radar.ray_source import _spread

FIELD_DEG = (90.0, 20.0)


def spread(p):
    """G^2 / R^4 of the radar equation at points of the sensor's frame, for 25 dBi ahead and a Gaussian lobe."""
    distance = np.linalg.norm(p, axis=-1)
    azimuth, elevation = np.arctan2(p[..., 1], p[..., 0]), np.arcsin(p[..., 2] / distance)
    half = np.radians(FIELD_DEG) / 2.0
    gain = 10.0**2.5 * 2.0 ** -((azimuth / half[0]) ** 2 + (elevation / half[1]) ** 2)
    return gain**2 / distance**4


def radar_constant(power_W=0.01, carrier_hz=77e9):
    """P lambda^2 / (4 pi)^3."""
    return power_W * (299792458.0 / carrier_hz) ** 2 / (4.0 * np.pi) ** 3


def over_surface(mesh, rng, count=2000):
    """Random points of a mesh's surface."""
    corners = mesh.vertices[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    face = rng.choice(len(area), count, p=area / area.sum())
    weight = rng.dirichlet(np.ones(3), count)
    return np.einsum("nk,nki->ni", weight, corners[face])


def some_shape(rng):
    """A shape of random kind and size, from a rod to a van."""
    a, b, c = np.exp(rng.uniform(np.log(0.03), np.log(2.0), 3))
    return [
        lambda: sn.shapes.box(a, b, c),
        lambda: sn.shapes.sphere(0.5 * a, subdivisions=2),
        lambda: sn.shapes.cylinder(0.5 * a, b),
        lambda: sn.shapes.plane(a, b),
    ][rng.integers(4)]()


@pytest.mark.parametrize("seed", range(48))
def test_a_target_has_its_stated_cross_section_and_the_power_of_the_radar_equation(truth_of, seed):
    """2 to 200 m, 3 cm to 2 m, any orientation, rays 0.1 to 10 degrees apart: from thousands that meet it to none."""
    rng = np.random.default_rng(seed)
    mesh, stated = some_shape(rng), 10.0 ** rng.uniform(-2.0, 3.0)
    distance = 2.0 * 100.0 ** rng.uniform()
    radius = np.linalg.norm(mesh.vertices, axis=1).max()
    distance = max(distance, 6.5 * radius)  # so that all of it is in the field
    azimuth, elevation = np.radians(rng.uniform(-33.0, 33.0)), np.radians(rng.uniform(-0.8, 0.8))
    middle = distance * np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )
    quaternion = rng.normal(size=4)
    pose = sn.Pose(middle, quaternion / np.linalg.norm(quaternion))
    scene = sn.Scene()
    scene.add(mesh, pose=pose, name="target")
    lists = truth_of(
        scene,
        frames=2,
        cross_sections={"target": stated},
        ray_spacing_deg=10.0 ** rng.uniform(-1.0, 1.0),
    )
    level = spread(pose.apply(over_surface(mesh, rng)))
    for truth in lists:
        assert truth.valid.sum() == 1
        assert truth.cross_section_m2[0] == pytest.approx(stated, rel=1e-9)
        assert level.min() * (1 - 1e-3) <= truth.power_W[0] / (radar_constant() * stated) <= level.max() * (1 + 1e-3)
        assert abs(truth.range_m[0] - distance) <= radius * 1.001


@pytest.mark.parametrize("radius", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("distance", [6.5, 40.0, 180.0])
def test_power_is_the_mean_over_what_is_seen(truth_of, radius, distance):
    """The seen cap of a ball, by its solid angle times R^2: an integral over the angle off the line to its middle."""
    off = np.linspace(0.0, np.arcsin(radius / distance), 4001)[:-1]
    near = distance * np.cos(off) - np.sqrt(np.maximum(radius**2 - (distance * np.sin(off)) ** 2, 0.0))
    weight = near**2 * np.sin(off)
    turn = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)[:, None]
    unit = np.stack([np.cos(off) + 0 * turn, np.sin(off) * np.cos(turn), np.sin(off) * np.sin(turn)], axis=-1)
    level = spread(near[:, None] * unit).mean(axis=0)
    expected = radar_constant() * 50.0 * (weight * level).sum() / weight.sum()
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(radius, subdivisions=4), pose=sn.Pose((distance, 0, 0)), name="ball")
    truth = truth_of(scene, cross_sections={"ball": 50.0}, ray_spacing_deg=0.25)
    assert truth.cross_section_m2[0] == pytest.approx(50.0, rel=1e-9)
    assert truth.power_W[0] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("spacing", [0.25, 7.0])
def test_every_world_sees_its_own_target_whole(make_radar, spacing):
    """Cars and pedestrians scattered over 24 worlds, each of them alone."""
    kinds = [
        sn.SceneObject(sn.shapes.box(4.0, 1.8, 1.4), label="car"),
        sn.SceneObject(sn.shapes.box(0.3, 0.4, 1.7), label="pedestrian"),
    ]
    scattered = sn.Scatter(kinds, 1, low=(20.0, -12.0, 0.0), high=(190.0, 12.0, 0.0), yaw_deg=(0.0, 360.0))
    batch = sn.SceneBatch.scattered([scattered], worlds=24, seed=5)
    env = sn.Environment(batch, sn.worlds.Static(step_s=0.05), seed=3)
    radar = env.attach(
        make_radar(source="rays", cross_sections={}, max_range_m=300.0, vertical_fov_deg=20.0, ray_spacing_deg=spacing)
    )
    env.step()
    expected = np.where(env.scene.index[:, 0] == 0, 10.0, 0.5)
    np.testing.assert_allclose(radar.truth().cross_section_m2[:, 0], expected, rtol=1e-9)


def test_worlds_alone_and_together_give_the_same_bytes(make_radar):
    """Aimed rays and hidden ones in 5 worlds of 2 radars, against each world by itself."""
    kinds = [sn.SceneObject(sn.shapes.box(1.0, 1.0, 1.0), label="car")]
    scattered = sn.Scatter(kinds, 6, low=(10.0, -8.0, -0.5), high=(80.0, 8.0, 0.5), yaw_deg=(0.0, 360.0))
    batch = sn.SceneBatch.scattered([scattered], worlds=5, seed=2)
    spec = make_radar(source="rays", cross_sections={}, ray_spacing_deg=1.0)

    def lists(scene, **options):
        env = sn.Environment(scene, sn.worlds.Static(step_s=0.05), seed=3, **options)
        radar = env.attach(spec, pose=[sn.Pose(), sn.Pose.from_euler_deg(yaw=10.0)])
        env.step()
        return radar.truth()

    together = lists(batch)
    for world in range(5):
        cut = slice(world, world + 1)
        alone = lists(sn.SceneBatch(kinds, batch.index[cut], batch.pose[cut]), first_world=world)
        for sensor in range(2):
            ours, theirs = together.row(world, sensor).flat(), alone.row(0, sensor).flat()
            np.testing.assert_array_equal(ours.power_W, theirs.power_W)
            np.testing.assert_array_equal(ours.object_id, theirs.object_id)


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
