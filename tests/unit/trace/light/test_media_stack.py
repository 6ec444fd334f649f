"""Media as a stack: the kernel against the float64 reference in random nests whose faces coincide, and laws by hand."""


import numpy as np
import pytest

import sensorium as sn
from sensorium.trace.ray_tree import ray_tree
from sensorium.trace.reference import ReferenceCaster

MATT = sn.Lambertian(reflectance=0.5)


def nest(seed, most=8):
    """Up to `most` volumes, boxes on a grid so that faces coincide and volumes overlap, with surfaces among them."""
    rng = np.random.default_rng(seed)
    things = []
    for _ in range(rng.integers(1, most + 1)):
        low = rng.integers(-4, 4, 3)
        size = rng.integers(1, 6, 3)
        index = rng.choice([1.0, 1.0, 1.0, 1.33, 1.5])
        medium = sn.media.uniform(refractive_index=index, extinction_per_m=round(rng.uniform(0.0, 0.1), 3))
        material = medium if rng.random() < 0.7 else sn.Dielectric(medium=medium)
        things.append((low, size, material))
    for _ in range(rng.integers(0, 3)):
        low, size = rng.integers(-5, 5, 3), rng.integers(1, 4, 3)
        things.append((low, size, [MATT, sn.Mirror(reflectance=0.8), MATT][rng.integers(3)]))
    things.append(((-8, -8, -5), (16, 16, 1), MATT))  # a floor
    things.append(((-20, -20, -20), (40, 40, 40), MATT))
    rng.shuffle(things)
    scene = sn.Scene()
    for low, size, material in things:
        center = np.array(low) + np.array(size) / 2
        scene.add(sn.shapes.box(*map(float, size)), pose=sn.Pose(center), material=material)
    return scene, rng


def fire(scene, directions, position, **options):
    x, y, z = np.asarray(directions, np.float64).T
    pattern = sn.patterns.Table(
        azimuth_deg=tuple(np.rad2deg(np.arctan2(y, x))),
        elevation_deg=tuple(np.rad2deg(np.arctan2(z, np.hypot(x, y)))),
        time_s=(0.0,) * len(x),
        rate_hz=10,
    )
    env = sn.Environment(scene, atmosphere=options.pop("atmosphere", None))
    spec = {"pattern": pattern, "mode": "relative", "atmospheric_returns": "off", "detection": None} | options
    lidar = env.attach(sn.Lidar(**spec), pose=sn.Pose(position))
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read(), pattern.rays().direction_S[0].astype(np.float64)


def differences(seed, rays):
    """How many rays of a nest differ from the reference, and the largest errors of the others."""
    scene, rng = nest(seed)
    position = rng.uniform(-4.3, 4.3, 3)
    scan, rays = fire(
        scene, rng.normal(size=(rays, 3)), position, max_depth=3, returns="all", max_returns=8, max_range_m=100.0
    )
    caster, differ, ranges, intensities = ReferenceCaster(scene), [], [0.0], [0.0]
    for k, direction in enumerate(rays):
        nodes = ray_tree(caster, position, direction, max_depth=3, max_range_m=100.0)
        returned = sorted((n for n in nodes if n.intensity > 0.0), key=lambda node: -node.intensity)
        returned = sorted(returned[:8], key=lambda node: node.opl_m)
        here = scan.valid[:, 0, k]
        if list(scan.object_id[here, 0, k]) != [n.object_id for n in returned]:
            differ.append(k)
            continue
        ranges.append(np.abs(scan.range_m[here, 0, k] - [n.opl_m for n in returned]).max(initial=0.0))
        strong = [n.intensity for n in returned]
        intensities.append(np.abs(scan.intensity[here, 0, k] / strong - 1.0).max(initial=0.0))
    return differ, np.array(ranges), np.array(intensities)


@pytest.mark.parametrize("seed", range(12))
def test_random_nests_agree_with_the_reference(seed):
    differ, ranges, intensities = differences(seed, 60)
    assert len(differ) <= 1
    assert ranges.max() < 3e-5
    assert np.quantile(intensities, 0.98) < 1e-3
