import base64
import io

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.lidar.scan import Light, Scan
from sensorium.sensors.lidar.waveform import Waveforms
from sensorium.view.quantities import world_points
from sensorium.view.report.sweeps import SweepRecord, _cloud, waveform_images

LABELS = {"ground": 1, "wall": 2, "car": 3}


def recorded(env, seconds=0.25):
    record = SweepRecord(env.sensors["top"])
    for _ in env.run(seconds):
        for scan in env.sensors["top"].readings():
            record.add(scan)
    return record


def places(cloud, unpacked):
    low, high = np.array(cloud["low"]), np.array(cloud["high"])
    levels = np.stack([unpacked(packed) for packed in cloud["places"]], axis=-1)
    return low + (high - low) * levels / 65535.0


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_points_are_where_the_last_sweep_saw_them(yard, unpacked, frame):
    env = yard(frame=frame)
    record = recorded(env)
    (cloud,) = record.clouds(env.scene.labels, 60_000)
    flat = env.sensors["top"].read().flat()
    assert cloud["count"] == cloud["total"] == len(flat.range_m)
    assert places(cloud, unpacked) == pytest.approx(world_points(flat), abs=1e-3)
    assert cloud["end_s"] == pytest.approx(0.2)

    # Ground at z = 0, the wall's near face at x = 8.9, though the lidar moved during the sweep
    names = np.array(cloud["label"]["names"])[unpacked(cloud["label"]["index"])]
    assert places(cloud, unpacked)[names == "ground", 2] == pytest.approx(0.0, abs=1e-3)
    assert places(cloud, unpacked)[names == "wall", 0] == pytest.approx(8.9, abs=1e-3)


def test_too_many_points_are_thinned_evenly_and_always_alike(yard, unpacked):
    env = yard()
    record = recorded(env)
    (cloud,) = record.clouds(env.scene.labels, 100)
    (again,) = record.clouds(env.scene.labels, 100)
    assert cloud == again
    assert cloud["count"] == 100 < cloud["total"]
    assert len(unpacked(cloud["label"]["index"])) == 100


def test_slices_make_up_a_sweep(yard):
    env = yard(publish="slices")
    whole = yard()
    (cloud,) = recorded(env, 0.2).clouds(env.scene.labels, 60_000)
    (expected,) = recorded(whole, 0.2).clouds(whole.scene.labels, 60_000)
    assert cloud["total"] == expected["total"]


def test_rays_and_returns_are_counted(yard):
    env = yard()
    record = recorded(env)
    assert (record.readings, record.rays) == (2, 2 * 8 * 90)
    assert 0 < record.returns < record.rays


def test_each_lidar_of_a_row_has_its_cloud_in_the_first_world(yard, unpacked):
    mounts = [sn.Pose(position=(0, 0, 1.0)), sn.Pose(position=(1.0, 0, 1.0))]
    env = yard(worlds=2, poses=mounts)
    clouds = recorded(env).clouds(env.scene.labels, 60_000)
    assert [cloud["sensor"] for cloud in clouds] == ["top[0]", "top[1]"]
    alone = yard(poses=mounts[1])
    (expected,) = recorded(alone).clouds(alone.scene.labels, 60_000)
    assert places(clouds[1], unpacked) == pytest.approx(places(expected, unpacked), abs=1e-3)


def test_the_image_is_a_picture_of_the_sweep(yard):
    env = yard()
    (image,) = recorded(env).images(env.scene.labels)
    kind, _, data = image["address"].partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert "0.200 s" in image["words"]


def test_the_image_is_upright_whichever_channel_comes_first(yard):
    env = yard()
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(-20, 5, 8)), columns=90, rate_hz=10.0)
    lidar = sn.Lidar(pattern=pattern, max_range_m=40.0)
    env.attach(lidar, body="van", pose=sn.Pose(position=(0, 0, 1.0)), name="rising", hide=("van",))
    falling, rising = (SweepRecord(env.sensors[name]) for name in ("top", "rising"))
    for _ in env.run(0.1):
        pass
    for record, name in ((falling, "top"), (rising, "rising")):
        record.add(env.sensors[name].read())
    assert falling.images(LABELS)[0]["address"] == rising.images(LABELS)[0]["address"]


def test_colors_by_cause_and_intensity_of_a_lidar_that_follows_light(random_light_scan, unpacked):

    scan = random_light_scan
    cloud = _cloud("top", [scan], LABELS, 60_000)
    flat = scan.flat()
    names = np.array(cloud["cause"]["names"])[unpacked(cloud["cause"]["index"])]
    assert (names == "false alarm").tolist() == (flat.cause == sn.Cause.FALSE_ALARM).tolist()
    low, high = cloud["intensity"]["low"], cloud["intensity"]["high"]
    level = low + (high - low) * unpacked(cloud["intensity"]["level"]) / 255.0
    inside = (np.log10(flat.intensity) > low) & (np.log10(flat.intensity) < high)
    assert level[inside] == pytest.approx(np.log10(flat.intensity)[inside], abs=(high - low) / 500)


@pytest.fixture
def random_light_scan():
    """Returns of six causes with labels or none, at random places."""
    rng = np.random.default_rng(0)
    shape = (8, 50)

    cause = rng.integers(0, 7, shape).astype(np.uint8)
    there = cause > 0
    light = Light(
        np.where(there, 10.0 ** rng.uniform(-5, -1, shape), 0.0).astype(np.float32),
        cause,
        np.zeros(shape, np.uint8),
        np.full(shape, -1, np.int32),
    )
    return sn.Scan(
        range_m=np.where(there, 5.0, 0.0).astype(np.float32),
        points=np.where(there[..., None], rng.normal(size=(*shape, 3)), 0.0),
        object_id=np.where(there, 0, -1).astype(np.int32),
        face_id=np.where(there, 0, -1).astype(np.int32),
        label=np.where(there, rng.integers(-1, 4, shape), -1).astype(np.int32),
        offset_ns=np.zeros(shape, np.int64),
        start_ns=0,
        end_ns=100_000_000,
        frame="world",
        knot_ns=np.array([0]),
        X_WS=sn.Pose().reshape((1, 1, 1)),
        light=light,
    )


def scan(range_m, samples):
    """Returns (returns, 2, 3) and samples (2, 3, bins) of 0.5 ns."""
    range_m = np.asarray(range_m, np.float32)
    zero, cause = np.zeros(range_m.shape, np.int32), np.full(range_m.shape, sn.Cause.SURFACE, np.uint8)
    return Scan(
        range_m=range_m,
        points=np.zeros((*range_m.shape, 3), np.float32),
        object_id=zero,
        face_id=zero,
        label=zero,
        offset_ns=np.zeros(range_m.shape[-2:], np.int64),
        start_ns=0,
        end_ns=100,
        frame="sensor",
        knot_ns=np.zeros(1, np.int64),
        X_WS=sn.Pose.stack([sn.Pose()]).reshape((1, 1, 1)),
        light=Light(np.ones(range_m.shape, np.float32), cause, cause, zero),
        waveform=None if samples is None else Waveforms(np.asarray(samples, np.float32), 0.0, 0.5e-9),
    )


@pytest.fixture
def three():
    """Six pulses: one with two returns, of which a weaker one stands beside it in another column."""
    samples = np.full((2, 3, 400), 1e-9)
    ranges = np.zeros((2, 2, 3))
    ranges[0] = 10.0
    for column, height in ((1, 5e-8), (2, 9e-8)):
        ranges[:, 1, column] = 10.0, 14.0
        samples[1, column, 133] = height
    return scan(ranges, samples)


def test_the_pulse_with_most_returns_is_shown_and_of_those_the_highest(three):
    (image,) = waveform_images("top", [three])
    assert image["sensor"] == "top"
    assert "channel 1, column 2" in image["words"]
    assert image["words"].endswith("returns: surface at 10.00 m, surface at 14.00 m")
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(image["address"].split(",")[1])))
    assert picture.width > 600
    assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 20


def test_without_samples_there_is_no_picture(three):
    assert waveform_images("top", [scan(np.zeros((2, 3)), None)]) == []
    (image,) = waveform_images("top", [scan(np.zeros((2, 3)), np.zeros((2, 3, 50)))])
    assert image["words"].endswith("returns: none")
