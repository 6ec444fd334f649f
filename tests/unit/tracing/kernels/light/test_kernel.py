"""The kernel against the reference tree, ray by ray, on scenes of everything it knows."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.reference.ray_tree import ray_tree

CAUSE = {"surface": sn.Cause.SURFACE, "reflection": sn.Cause.REFLECTION, "transmission": sn.Cause.TRANSMISSION}

MATERIALS = [
    sn.Mirror(reflectance=0.85),
    sn.Mirror(reflectance=0.6, roughness=3e-4),
    sn.ThinGlass(),
    sn.ThinGlass(refractive_index=1.7, thickness_m=0.03, absorption_per_m=4.0),
    sn.Dielectric(refractive_index=1.5, extinction_coefficient=1e-8),
    sn.Dielectric(medium=sn.media.uniform(refractive_index=1.33, extinction_per_m=0.05)),
    sn.media.fog(visibility_m=30.0, gamma_probability=0.0),
    sn.media.uniform(refractive_index=1.1, extinction_per_m=0.2),
    sn.TwoLayer(refractive_index=1.5, roughness=2e-3, reflectance=0.4, diffuse_roughness=0.3),
    sn.TwoLayer(refractive_index=1.4, roughness=0.1, reflectance=0.6, layering="plastic"),
    sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.2, layering="agx"),
    sn.TwoLayer(refractive_index=1.2, extinction_coefficient=7.0, roughness=1e-3, reflectance=0.0),
    sn.Retroreflector(coefficient=50.0, reflectance=0.1),
    sn.Lambertian(reflectance=0.7),
    None,
]


def random_scene(seed, count=18):
    """A room of things that do not touch each other, in random turns; the sensor at the origin is outside of all."""
    rng = np.random.default_rng(seed)
    scene, spheres = sn.Scene(), [(np.zeros(3), 0.7)]
    scene.add(sn.shapes.box(16, 14, 12), pose=sn.Pose.from_euler_deg((0.4, 0.2, -0.3), 5, 8, 11), label="room")
    while len(spheres) < count:
        size = rng.uniform(0.3, 2.0, 3)
        center, radius = rng.uniform(-5, 5, 3) * (1, 0.9, 0.7), np.linalg.norm(size) / 2
        if all(np.linalg.norm(center - other) > radius + r for other, r in spheres):
            spheres.append((center, radius))
            pose = sn.Pose(center, rng.normal(size=4))
            material = MATERIALS[(seed + len(spheres)) % len(MATERIALS)]
            sheet = isinstance(material, sn.ThinGlass)
            mesh = sn.shapes.plane(*size[:2]) if sheet else sn.shapes.box(*size)
            scene.add(mesh, pose=pose, material=material)
    return scene


def aimed_at(scene, seed, count):
    """Rays at the things in the room, somewhere near their centers."""
    rng = np.random.default_rng(seed)
    centers = np.array([thing.pose.position for thing in scene.objects[1:]])
    x, y, z = (centers[rng.integers(len(centers), size=count)] + rng.normal(0, 0.4, (count, 3))).T
    return sn.patterns.Table(
        azimuth_deg=tuple(np.rad2deg(np.arctan2(y, x))),
        elevation_deg=tuple(np.rad2deg(np.arctan2(z, np.hypot(x, y)))),
        time_s=(0.0,) * count,
        rate_hz=10,
    )


def fire(scene, pattern, *, atmosphere=None, pose=None, **options):
    env = sn.Environment(scene, atmosphere=atmosphere)
    lidar = env.attach(sn.Lidar(**{"pattern": pattern, "mode": "relative", "detection": None} | options), pose=pose)
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def compare(scan, trees, scene, *, calibrated_index=1.0, half_angle_rad=1.5e-3):
    """All returns of each ray against its tree: errors of intensity, and at how many rays the geometry differed.

    Errors are in parts of what float32 allows on that path, see `float32_limit`.
    """
    errors, differ = [], 0
    for k, nodes in enumerate(trees):
        by_number = {node.number: node for node in nodes}
        returned = sorted((n for n in nodes if n.intensity > 0), key=lambda node: -node.intensity)
        returned = sorted(returned[: len(scan.range_m)], key=lambda node: node.opl_m)
        here = scan.valid[:, 0, k]
        same = here.sum() == len(returned) and list(scan.object_id[here, 0, k]) == [n.object_id for n in returned]
        if not same:  # a ray along an edge, or two returns of the same strength
            differ += 1
            continue
        at = f"ray {k}"
        ranges = [n.opl_m / calibrated_index for n in returned]
        np.testing.assert_allclose(scan.range_m[here, 0, k], ranges, rtol=1e-5, err_msg=at)
        limits = [float32_limit(n, by_number, scene, calibrated_index, half_angle_rad) for n in returned]
        errors += list((scan.intensity[here, 0, k] / np.array([n.intensity for n in returned]) - 1.0) / limits)
        assert list(scan.depth[here, 0, k]) == [n.depth for n in returned], at
        assert list(scan.mirror_id[here, 0, k]) == [n.mirror_id for n in returned], at
        assert list(scan.cause[here, 0, k]) == [CAUSE[n.cause] for n in returned], at
        assert list(scan.face_id[here, 0, k]) == [n.face_id for n in returned], at
    return np.abs(errors), differ


def float32_limit(node, by_number, scene, outside_n, half_angle_rad):
    """Largest relative error of an intensity that is float32's and not ours: 3e-5, and more where little decides much.

    Directions and normals are known to some 1e-7. Near the critical angle transmission goes as the square root of
    p = (n2 / n1)^2 - sin^2, so that 1e-7 becomes 1e-7 / p; near a mirror's normal the return goes as
    exp(-sin^2 / (2 t^2)), t = tan(delta / 2), so that 1e-7 becomes 1e-7 sin / t^2. (The float64 tree is no better
    informed: its normals are float32 too.)
    """
    sine = np.linalg.norm(np.cross(node.direction, node.normal))
    t = np.tan(half_angle_rad / 2)
    limit = 3e-5 + (1e-7 * sine / t**2 if sine < 8 * t else 0.0)  # beyond, the bell is gone and the lobe stands
    while node.parent is not None:
        node = by_number[node.parent]
        body = scene.objects[node.object_id].material
        if isinstance(body, (sn.Dielectric, sn.media.AbstractMedium)):
            inner = (body.inside if isinstance(body, sn.Dielectric) else body.at)(905e-9).refractive_index
            entering = node.direction @ node.normal < 0
            relative = inner / outside_n if entering else outside_n / inner
            p = relative**2 - np.linalg.norm(np.cross(node.direction, node.normal)) ** 2
            limit += 5e-7 / max(abs(p), 1e-4)
    return limit


VARIANTS = [
    {},
    {"round_trip": False},
    {"divergence": "agx"},
    {"floor": 1e-3},
    {"max_depth": 5},
    {"beam": sn.Beam(half_divergence_rad=(3e-3, 1e-3), detector_offset_m=0.005)},
]
ALL = {"max_depth": 3, "returns": "all", "max_returns": 8}


@pytest.mark.parametrize("seed", range(len(VARIANTS)))
def test_every_return_of_random_scenes(seed):
    scene = random_scene(seed)
    pattern, options = aimed_at(scene, seed, 150), ALL | VARIANTS[seed]
    air = sn.media.air(visibility_m=500.0) if seed % 2 else None
    scan = fire(scene, pattern, atmosphere=air, **options)

    tree = {
        name: value for name, value in options.items() if name in ("max_depth", "round_trip", "divergence", "floor")
    }
    if "beam" in options:
        names = ["wavelength_m", "half_divergence_rad", "exit_radius_m", "detector_radius_m", "detector_offset_m"]
        tree |= {name: getattr(options["beam"], name) for name in names}
    caster, directions = sn.RayCaster(scene), pattern.rays().direction_S[0].astype(np.float64)
    trees = [ray_tree(caster, (0, 0, 0), d, atmosphere=air, **tree) for d in directions]
    widest = options["beam"].widest_rad if "beam" in options else 1.5e-3
    errors, differ = compare(scan, trees, scene, calibrated_index=1.000273 if air else 1.0, half_angle_rad=widest)
    assert differ <= 1  # a ray within float32's rounding of an edge or of the floor
    assert errors.max() < 1.0
    # and the scenes do what they are for
    assert len({n.object_id for nodes in trees for n in nodes}) > 12
    assert (scan.depth.max(axis=0) > 0).mean() > 0.15


def test_the_floor_counts_what_the_way_took():
    """Light loses 86 % in the fog on the way to the mirror: what leaves the mirror is below a floor of half."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.1, 2, 2), pose=sn.Pose((2, 0, 0)), material=sn.Mirror(reflectance=1.0))
    scene.add(sn.shapes.box(9, 9, 9))
    pattern = sn.patterns.Table(azimuth_deg=(20.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
    air = sn.media.uniform(extinction_per_m=0.5)
    for floor, followed in ((0.05, True), (0.5, False)):
        scan = fire(scene, pattern, atmosphere=air, **ALL | {"floor": floor})
        assert (scan.depth.max() > 0) == followed
        direction = pattern.rays().direction_S[0, 0].astype(np.float64)
        assert (len(ray_tree(sn.RayCaster(scene), (0, 0, 0), direction, atmosphere=air, floor=floor)) > 1) == followed


@pytest.mark.parametrize(
    "bank", [sn.media.fog(visibility_m=20.0, gamma_probability=0.0), sn.media.water()], ids=["fog", "water"]
)
def test_a_sensor_inside_a_volume(bank):
    """Rays start in the volume's medium, and meet its boundary from inside."""
    scene, pattern = sn.Scene(), None
    scene.add(sn.shapes.box(8, 6, 5), pose=sn.Pose.from_euler_deg((0.3, 0.2, 0.1), 10, 20, 30), material=bank)
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((2, 0.5, 0)), material=sn.Lambertian(reflectance=0.3))
    scene.add(sn.shapes.box(30, 30, 30), label="room")
    for azimuth in (0.0, 90.0, 200.0):
        scene.add(sn.shapes.sphere(0.1), pose=sn.Pose((9 * np.cos(azimuth), 9 * np.sin(azimuth), 0)))
    pattern, beam = aimed_at(scene, 3, 60), sn.Beam(wavelength_m=532e-9)
    scan = fire(scene, pattern, beam=beam, calibrated_index=1.0, **ALL)
    caster = sn.RayCaster(scene)
    trees = [
        ray_tree(caster, (0, 0, 0), d, max_depth=3, wavelength_m=532e-9)
        for d in pattern.rays().direction_S[0].astype(np.float64)
    ]
    errors, differ = compare(scan, trees, scene)
    assert differ <= 1
    assert errors.max() < 1.0


@pytest.mark.parametrize("divergence", ["exact", "agx"])
def test_things_under_water(divergence):
    """Panes and gloss reflect by their index over that of water; eq. 21 widens the beam with the optical path."""
    water = sn.media.uniform(refractive_index=1.33, extinction_per_m=0.02)
    scene = sn.Scene()
    scene.add(sn.shapes.box(40, 40, 40), material=water)
    glossy = {"roughness": 0.01, "reflectance": 0.3}
    things = [
        (sn.shapes.plane(3, 3), sn.ThinGlass(thickness_m=0.01), (3, -1.5, 0), 60),
        (sn.shapes.plane(3, 3), sn.ThinGlass(refractive_index=1.2), (3, 1.5, 0), 60),
        (sn.shapes.box(1, 2, 2), sn.TwoLayer(refractive_index=1.5, **glossy), (6, -2, 0), 10),
        (sn.shapes.box(1, 2, 2), sn.TwoLayer(refractive_index=1.5, **glossy, layering="plastic"), (6, 2, 0), 10),
        (sn.shapes.box(1, 2, 2), sn.TwoLayer(refractive_index=1.2, **glossy, layering="agx"), (6, 0, 2), 10),
        (sn.shapes.box(14, 14, 14), sn.Lambertian(reflectance=0.5), (0, 0, 0), 0),
    ]
    for mesh, material, place, pitch in things:
        scene.add(mesh, pose=sn.Pose.from_euler_deg(place, 0, pitch, 0), material=material)
    pattern = sn.patterns.Raster(  # no column looks along the seam of the two panes
        height=7, width=9, horizontal_fov_deg=(-40, 39), vertical_fov_deg=(-20, 25), rate_hz=10
    )
    scan = fire(scene, pattern, divergence=divergence, calibrated_index=1.0, **ALL)
    rays = pattern.rays().direction_S.reshape(-1, 3).astype(np.float64)
    caster = sn.RayCaster(scene)
    trees = [ray_tree(caster, (0, 0, 0), d, max_depth=3, divergence=divergence) for d in rays]
    returned, compared = scan.valid.reshape(8, -1), 0
    for k, nodes in enumerate(trees):
        strongest = max(nodes, key=lambda node: node.intensity)
        best = int(np.argmax(np.where(returned[:, k], scan.intensity.reshape(8, -1)[:, k], -1.0)))
        assert scan.object_id.reshape(8, -1)[best, k] == strongest.object_id
        assert scan.intensity.reshape(8, -1)[best, k] == pytest.approx(strongest.intensity, rel=1e-4)
        assert scan.range_m.reshape(8, -1)[best, k] == pytest.approx(strongest.opl_m, rel=1e-5)
        compared += strongest.depth > 0
    assert compared > 5


def test_a_volume_of_a_medium_and_a_body_of_it_return_the_same():
    """Straight on, the surface of water glints, whichever way it was said to be water."""
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
    water, seen = sn.media.water(), []
    for material in (water, sn.Dielectric(medium=water)):
        scene = sn.Scene()
        scene.add(sn.shapes.box(2, 4, 4), pose=sn.Pose((5, 0, 0)), material=material)
        seen.append(fire(scene, pattern, **ALL))
    np.testing.assert_array_equal(seen[0].intensity, seen[1].intensity)
    index = water.at(905e-9).refractive_index
    glint = sn.optics.mirror_glint(1.0, roughness=1e-4, half_angle_rad=1.5e-3)
    there = sn.optics.captured_fraction(4.0, detector_radius_m=0.01, exit_radius_m=0.01, half_divergence_rad=1.5e-3)
    expected = ((index - 1) / (index + 1)) ** 2 * glint * there
    assert seen[0].intensity[0, 0, 0] == pytest.approx(float(expected), rel=1e-4)


def test_rays_with_origins_of_their_own():
    """A pattern whose channels sit beside each other: each ray's path starts at its own place, in both frames."""
    scene = sn.Scene()
    scene.add(
        sn.shapes.box(0.1, 3, 3),
        pose=sn.Pose.from_euler_deg((3, 0.5, 0), 0, 0, 30),
        material=sn.Mirror(reflectance=0.9),
    )
    scene.add(sn.shapes.box(20, 20, 20))
    pattern = sn.patterns.Spinning(
        elevation_deg=(4.0, 0.0, -5.0),
        columns=36,
        rate_hz=10,
        origin_offset_m=((0.1, 0, 0.2), (0.05, 0.3, 0), (0, 0, -0.4)),
    )
    table, mount = pattern.rays(), sn.Pose.from_euler_deg((0.3, -0.2, 0.1), 5, -3, 20)
    caster, starts = sn.RayCaster(scene), mount.apply(table.origin_S.astype(np.float64))
    assert np.ptp(table.origin_S, axis=(0, 1)).min() > 0.05
    directions = mount.rotate(table.direction_S.astype(np.float64))
    scans = {f: fire(scene, pattern, pose=mount, frame=f, motion="snapshot", max_depth=2) for f in ("sensor", "world")}
    for at in np.ndindex(table.shape):
        best = max(ray_tree(caster, starts[at], directions[at]), key=lambda node: node.intensity)
        for scan in scans.values():
            assert scan.range_m[at] == pytest.approx(best.opl_m, rel=1e-5)
            assert scan.intensity[at] == pytest.approx(best.intensity, rel=1e-4)
            assert scan.mirror_id[at] == best.mirror_id
        on_ray = starts[at] + best.opl_m * directions[at]
        np.testing.assert_allclose(scans["world"].points[at], on_ray, atol=1e-4)
        np.testing.assert_allclose(mount.apply(scans["sensor"].points[at].astype(np.float64)), on_ray, atol=1e-4)
    assert (scans["world"].mirror_id >= 0).sum() > 3


def test_mirrors_that_move_while_the_sweep_lasts():
    """A mirror turning at 2 rad/s on a body that moves: each ray meets it as it stands when the ray fires."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.1, 2, 2), body="mirror", material=sn.Mirror(reflectance=0.9))
    scene.add(sn.shapes.box(0.2, 0.2, 3), pose=sn.Pose((0.3, 0, 0)), body="mirror", material=sn.ThinGlass())
    scene.add(sn.shapes.box(30, 30, 30), label="room")
    path = sn.paths.Spin(position=(3, 0, 0), axis=(0.1, 0.2, 1), rate=2.0)
    times = tuple(np.arange(100) * 1e-3)
    pattern = sn.patterns.Table(azimuth_deg=(1.0,) * 100, elevation_deg=(2.0,) * 100, time_s=times, rate_hz=10)
    env = sn.Environment(scene, sn.worlds.Kinematic({"mirror": path}, step_s=0.01))
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="relative", detection=None, **ALL))
    for _ in env.run(duration_s=0.1):
        pass
    caster, trees = sn.RayCaster(scene), []
    for time_s, direction in zip(times, pattern.rays().direction_S[0].astype(np.float64), strict=True):
        caster.place({"mirror": path.pose(time_s)})
        trees.append(ray_tree(caster, (0, 0, 0), direction, max_depth=3))
    errors, differ = compare(lidar.read(), trees, scene)
    assert differ <= 1
    assert len(errors) > 150
    assert np.quantile(errors, 0.95) < 10.0  # the motion itself is followed to 20 um, which turns mirrors a little


def test_worlds_of_different_materials():
    """Each world's own objects, materials and reflectances."""
    mesh = sn.shapes.box(1, 4, 4)
    shaded = sn.Mesh(mesh.vertices, mesh.faces, face_properties={"shade": np.linspace(0.1, 0.9, len(mesh.faces))})
    assets = [
        sn.SceneObject(shaded, material=sn.Lambertian(reflectance="shade")),
        sn.SceneObject(mesh, material=sn.TwoLayer(refractive_index=1.5, roughness=0.2, reflectance=0.3)),
        sn.SceneObject(mesh, material=sn.ThinGlass()),
    ]
    index = np.array([[0, 1], [1, 0], [2, 0], [1, -1]])
    pose = sn.Pose(np.broadcast_to(np.array([(4.0, 0.2, 0), (8.0, 0, 0)]), (4, 2, 3)))
    batch = sn.SceneBatch(assets, index, pose)
    pattern = sn.patterns.Raster(height=5, width=7, horizontal_fov_deg=(-20, 20), vertical_fov_deg=(-9, 12), rate_hz=10)
    env = sn.Environment(batch)
    lidar = env.attach(sn.Lidar(pattern=pattern, mode="relative", max_depth=2, detection=None))
    for _ in env.run(duration_s=0.1):
        pass
    scan, caster = lidar.read(), sn.RayCaster(batch)
    directions = pattern.rays().direction_S.astype(np.float64)
    for world in range(4):
        for at in np.ndindex(directions.shape[:2]):
            nodes = ray_tree(caster, (0, 0, 0), directions[at], world=world)
            best = max(nodes, key=lambda node: node.intensity)
            assert scan.intensity[(world, *at)] == pytest.approx(best.intensity, rel=1e-4)
            assert scan.object_id[(world, *at)] == best.object_id
