"""Simulated Velodyne packets as velodyne-decoder decodes them."""

import socket

import numpy as np
import pytest

import sensorium as sn
from sensorium.recordings.packets import velodyne
from tests.system.live.makers import finished, python_with, receiver, yard

pytestmark = pytest.mark.slow

MODELS = {
    "velodyne-vlp16": "VLP16",
    "velodyne-vlp32c": "VLP32C",
    "velodyne-hdl32e": "HDL32E",
    "velodyne-vls128": "VLS128",
}


@pytest.fixture(scope="module")
def python(request):
    return python_with(request, "velodyne-decoder==3.1.0")


def received(tmp_path, python, env, model, packets, **options):
    """What the decoder made of the first packets, and the scans."""
    ports = []
    for _ in range(2):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
    given = {"kind": "velodyne", "lidar_port": ports[0], "position_port": ports[1], **options}
    sink, scans = sn.live.open_sink("udp", sensors={"top": given}), []
    with receiver(python, "velodyne_receiver.py", *ports, model, packets, tmp_path / "out.npz") as process:
        for _ in env.run(duration_s=0.5, live=[sink], realtime=0.3):
            scans += env.sensors["top"].readings()
        finished(process)
    return np.load(tmp_path / "out.npz"), scans


def nearest(decoded, points):
    """Distance of each decoded point to the nearest of the scans [m]."""
    from scipy.spatial import KDTree

    return KDTree(points).query(decoded)[0]


@pytest.mark.parametrize("device", MODELS)
@pytest.mark.parametrize("returns", ["strongest", "last", "all"])
def test_points_are_those_of_the_scan(device, returns, tmp_path, python):
    fields = {"returns": "all", "max_returns": 2, "max_depth": 1} if returns == "all" else {"returns": returns}
    env = yard(device, gnss=True, max_range_m=40.0, **fields)
    model = next(each for each in velodyne.MODELS.values() if each.sheet == device)
    count = 150 if model.channels < 128 else 600
    found, scans = received(tmp_path, python, env, MODELS[device], count, gnss="gnss")
    assert len(found["packets"]) == count
    mode = {"strongest": 0x37, "last": 0x38, "all": 0x39}[returns]
    assert set(found["packets"][:, 1204]) == {mode}
    assert set(found["packets"][:, 1205]) == {model.product}
    # The decoder knows the rate of rotation from the second packet on
    late = found["time"] > found["time"].min() + 0.002
    points = np.concatenate([scan.points[scan.valid] for scan in scans])
    decoded = np.stack([found["x"], found["y"], found["z"]], axis=-1)[late]
    error_m, range_m = nearest(decoded, points), np.linalg.norm(decoded, axis=1)
    assert len(decoded) > 1000
    # Half a count of range; and azimuths are whole hundredths of a degree, rounded here and cut off in the decoder
    assert np.percentile(error_m, 95) < 0.004
    assert (error_m < 0.5 * model.range_unit_m + 0.0003 * range_m).all()
    assert len(found["sentences"]) > 0
    sentence, longitude, latitude = found["sentences"][0].split("|")
    assert sentence.startswith("$GPRMC,000000.")
    assert ",010100," in sentence
    assert float(longitude) == pytest.approx(11.575, abs=1e-4)
    assert float(latitude) == pytest.approx(48.137, abs=1e-4)
    assert found["hour_us"][0] % 100_000 == 0
