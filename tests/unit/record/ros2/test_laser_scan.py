"""sensor_msgs/LaserScan: angles and ranges place the returns where the scan's own points are."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.ros2.laser_scan import laser_scan
from sensorium.record.ros2.message import Source
from sensorium.record.ros2.readings import messages_of


def flat_lidar(**options) -> sn.Lidar:
    pattern = {"elevation_deg": (0.0,), "columns": 240, "rate_hz": 10.0, **options.pop("pattern", {})}
    return sn.Lidar(pattern=sn.patterns.Spinning(**pattern), min_range_m=0.1, max_range_m=30.0, **options)


def scanned(spec: sn.Lidar, *, worlds: int | None = None) -> tuple[sn.Scan, Source]:
    """A scan in a room with one wall missing."""
    scene = sn.Scene()
    for at in ((6.5, 0, 0), (-4.5, 0, 0)):
        scene.add(sn.shapes.box(1, 20, 4), pose=sn.Pose(at))
    scene.add(sn.shapes.box(20, 1, 4), pose=sn.Pose((0, 3.5, 0)))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), worlds=worlds, seed=4)
    sensor = env.attach(spec, name="flat")
    env.step()
    env.step()
    return sensor.read(), Source.of(sensor, (), ())


def read(reader) -> dict:
    stamp_ns, frame = reader.header()
    names = ("first", "last", "step", "time_step", "scan_time", "range_min", "range_max")
    fields = dict(zip(names, reader.take(*"fffffff"), strict=True))
    fields |= {"ranges": np.array(reader.numbers("f")), "intensities": np.array(reader.numbers("f"))}
    assert reader.bytes_left() == 0
    return {"stamp_ns": stamp_ns, "frame": frame, **fields}


@pytest.mark.parametrize("direction", ["clockwise", "counterclockwise"])
@pytest.mark.parametrize("sector", [{}, {"azimuth_min_deg": -135.0, "azimuth_max_deg": 135.0}])
def test_ranges_and_angles_give_the_points_of_the_scan(decoded, direction, sector):
    scan, source = scanned(flat_lidar(pattern={"direction": direction, **sector}))
    ((row, end, message),) = laser_scan(scan, source)
    assert (row, end) == (0, "scan")
    told = read(decoded(message))
    angle = told["first"] + told["step"] * np.arange(240)
    assert angle[-1] == pytest.approx(told["last"], abs=1e-5)
    assert np.sign(told["step"]) == (-1 if direction == "clockwise" else 1)
    back = scan.valid[0]
    assert 20 < np.count_nonzero(back) < 240
    np.testing.assert_array_equal(np.isposinf(told["ranges"]), ~back)
    found = np.stack([told["ranges"] * np.cos(angle), told["ranges"] * np.sin(angle)], axis=-1)[back]
    np.testing.assert_allclose(found, scan.points[0, back, :2], atol=2e-4)
    assert told["intensities"].size == 0
    assert (told["range_min"], told["range_max"], told["frame"]) == (np.float32(0.1), 30.0, "flat")


def test_times_are_those_of_the_firings(decoded):
    scan, source = scanned(flat_lidar(timing=sn.Timing(skew_ppm=100.0, clock_offset_s=0.25)))
    told = read(decoded(laser_scan(scan, source)[0][2]))
    assert told["stamp_ns"] == scan.ray_time_ns[0, 0]
    last_ns = told["stamp_ns"] + told["time_step"] * 239 * 1e9
    assert last_ns == pytest.approx(scan.ray_time_ns[0, -1], abs=50.0)
    assert told["scan_time"] == pytest.approx(0.1)


def test_light_gives_intensities_and_every_world_a_message(decoded):
    scan, source = scanned(flat_lidar(mode="radiometric"), worlds=2)
    messages = laser_scan(scan, source)
    assert [row for row, _, _ in messages] == [0, 1]
    for row, _, message in messages:
        told = read(decoded(message))
        assert told["frame"] == f"world_{row}/flat"
        np.testing.assert_allclose(
            told["intensities"], np.where(scan.valid[row, 0], scan.intensity[row, 0], 0), rtol=1e-6
        )


def test_of_several_returns_the_first_counts(decoded):
    spec = flat_lidar(mode="radiometric", max_returns=3)
    scan, source = scanned(spec)
    told = read(decoded(laser_scan(scan, source)[0][2]))
    first = np.where(scan.valid, scan.range_m, np.inf).reshape(-1, 240)[0]
    np.testing.assert_array_equal(told["ranges"], first.astype(np.float32))


@pytest.mark.parametrize(
    "pattern",
    [
        {"elevation_deg": (5.0,)},
        {"elevation_deg": (0.0, 1.0)},
        {"columns": 1},
        {"origin_offset_m": ((0.03, 0.0, 0.0),)},
    ],
)
def test_lidars_that_do_not_scan_a_plane_have_no_laser_scan(pattern):
    scan, source = scanned(flat_lidar(pattern=pattern))
    assert laser_scan(scan, source) == []


def test_unequal_steps_have_no_laser_scan():
    table = sn.patterns.Table(azimuth_deg=(0, 1, 3), elevation_deg=(0, 0, 0), time_s=(0, 0.01, 0.02), rate_hz=10)
    scan, source = scanned(sn.Lidar(pattern=table))
    assert laser_scan(scan, source) == []


def test_it_is_one_of_a_lidars_messages():
    scan, source = scanned(flat_lidar())
    assert [topic for topic, _ in messages_of(scan, source)] == ["/flat/points", "/flat/scan"]
