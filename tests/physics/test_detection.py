"""What a device does not see: returns weaker than its maker states are none."""

import numpy as np
import pytest

import sensorium as sn


def os1(**options):
    return sn.Lidar.from_device("ouster-os1-128", **options)


def sweep(scene, lidar, pose=None, seed=0, **environment):
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=seed, **environment)
    sensor = env.attach(lidar, pose=pose)
    env.step()
    return sensor.read()


def around(reflectance, radius_m):
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(radius_m, 5), material=sn.Lambertian(reflectance=reflectance))
    return scene


def test_still_water_gives_no_return():
    scene = sn.Scene()
    scene.add(
        sn.shapes.box(400, 400, 0.1), pose=sn.Pose((0, 0, -0.05)), material=sn.Dielectric(medium=sn.media.water())
    )
    scan = sweep(scene, os1(max_depth=2), pose=sn.Pose((0, 0, 2.0)))
    assert not scan.valid.any()
    assert sweep(scene, os1(max_depth=2, detection=None), pose=sn.Pose((0, 0, 2.0))).valid.mean() > 0.4


def test_open_sky_in_a_mirror_gives_no_return():
    scene = sn.Scene()
    mirror = sn.Mirror(reflectance=0.9)
    scene.add(sn.shapes.plane(20.0), pose=sn.Pose.from_euler_deg((8, 0, 0), pitch=-45), material=mirror)
    assert not sweep(scene, os1(max_depth=2)).valid.any()
    assert sweep(scene, os1(max_depth=2, detection=None)).valid.any()


def test_a_black_wall_far_away_gives_no_return():
    assert not sweep(around(0.02, 165.0), os1()).valid.any()
    assert sweep(around(0.02, 165.0), os1(detection=None)).valid.all()


def test_a_dark_wall_is_seen_as_far_as_stated():
    assert sweep(around(0.1, 80.0), os1()).valid.mean() > 0.99
    assert sweep(around(0.1, 90.0), os1()).valid.mean() == pytest.approx(0.9, abs=0.01)
    assert sweep(around(0.1, 120.0), os1()).valid.mean() < 0.1
    assert sweep(around(0.8, 168.0), os1()).valid.mean() == pytest.approx(0.92, abs=0.02)
    # without the greatest range that it reports, not much farther
    assert sweep(around(0.8, 230.0), os1(max_range_m=400.0)).valid.mean() < 0.1


def test_a_retroreflector_far_away_is_seen():
    scene = sn.Scene()
    sign = sn.Retroreflector(coefficient=100.0)
    scene.add(sn.shapes.sphere(165.0, 5), material=sign)
    assert sweep(scene, os1()).valid.all()


@pytest.mark.parametrize("mode", ["radiometric", "waveform"])
def test_where_photons_are_counted_the_stated_range_holds_too(mode):
    lidar = os1(mode=mode, max_range_m=200.0, pattern={"columns": 32})
    shares = [sweep(around(0.1, range_m), lidar).valid.mean() for range_m in (75.0, 90.0, 125.0)]
    assert shares[0] > 0.98
    assert shares[1] == pytest.approx(0.9, abs=0.025)
    assert shares[2] < 0.1


def test_with_a_sun_the_noise_is_what_is_left_in_darkness():
    sun = {"sun": sn.fields.Sun(elevation_deg=60.0)}
    lidar = os1(mode="radiometric", max_range_m=300.0, pattern={"columns": 32})
    dark_receiver = os1(
        mode="radiometric", max_range_m=300.0, pattern={"columns": 32}, receiver={"filter_width_m": 1e-15}
    )
    in_statement = sweep(around(0.1, 95.0), lidar).valid.mean()
    without_background = sweep(around(0.1, 95.0), dark_receiver, **sun).valid.mean()
    with_background = sweep(around(0.1, 95.0), lidar, **sun).valid.mean()
    assert without_background > in_statement
    assert with_background < without_background


def test_a_geometric_device_has_no_limit():
    scan = sweep(around(0.02, 165.0), os1(mode="geometric", errors=()))
    assert np.count_nonzero(scan.valid) == scan.valid.size
