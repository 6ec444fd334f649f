"""LAS waveforms: bytes that the test lays out, files that the library writes, and what is refused."""

import struct

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record import save_las
from sensorium.recordings.readers.las_waveforms import read_las_waveforms

LAYOUT = {4: (28, 57), 5: (34, 63), 9: (30, 59), 10: (38, 67)}


def las_bytes(packets, *, kind=9, minor=4, encoding=4, internal=0, spacing_ps=1000, bits=16, gain=1.0, index=1):
    """A LAS file by the standard: packets as (offset, size, location [ps], return byte), one point each."""
    at, length = LAYOUT[kind]
    header_bytes = 375 if minor == 4 else 235
    bins = packets[0][1] * 8 // bits
    record = struct.pack("<H16sHH32s", 0, b"LASF_Spec", 100, 26, b"")
    record += struct.pack("<BBIIdd", bits, 0, bins, spacing_ps, gain, 0.5)
    head = bytearray(header_bytes)
    head[:4], head[24:26], head[58:62] = b"LASF", bytes((1, minor)), b"test"
    struct.pack_into("<H", head, 6, encoding)
    struct.pack_into("<HIIBH", head, 94, header_bytes, header_bytes + len(record), 1, kind, length)
    struct.pack_into("<I", head, 107, len(packets))
    struct.pack_into("<Q", head, 227, internal)
    if minor == 4:
        struct.pack_into("<Q", head, 247, len(packets))
    points = bytearray(length * len(packets))
    for k, (offset, size, location, returns) in enumerate(packets):
        points[length * k + 14] = returns
        struct.pack_into("<BQIf", points, length * k + at, index, offset, size, location)
    return bytes(head) + record + bytes(points)


def write(folder, samples, **changes):
    data = np.ascontiguousarray(samples)
    size = data.shape[1] * data.itemsize
    four = changes.get("kind", 9) in (9, 10)
    packets = [(60 + size * k, size, 1500.0 * k, (1 << (4 if four else 3)) + 1) for k in range(len(data))]
    (folder / "a.las").write_bytes(las_bytes(packets, bits=8 * data.itemsize, **changes))
    (folder / "a.wdp").write_bytes(bytes(60) + data.tobytes())
    return folder / "a.las"


SAMPLES = np.random.default_rng(3).integers(0, 200, (7, 30))


@pytest.mark.parametrize("kind", [4, 5, 9, 10])
@pytest.mark.parametrize("form", ["<u2", "u1"])
def test_samples_come_as_they_were_laid_out(tmp_path, kind, form):
    path = write(tmp_path, SAMPLES.astype(form), kind=kind, minor=4 if kind > 5 else 3, gain=2.0)
    found = read_las_waveforms(path)
    (group,) = found.groups
    np.testing.assert_array_equal(group.samples, 2.0 * SAMPLES + 0.5)
    np.testing.assert_allclose(group.location_s, 1.5e-9 * np.arange(7))
    assert (group.spacing_s, found.software, found.points) == (1e-9, "test", 7)
    assert group.returns.tolist() == [1] * 7


def test_samples_in_the_file_itself(tmp_path):
    data = SAMPLES.astype("<u2")
    packets = [(60 + 60 * k, 60, 0.0, 17) for k in range(7)]
    begin = len(las_bytes(packets))
    (tmp_path / "a.las").write_bytes(las_bytes(packets, encoding=2, internal=begin) + bytes(60) + data.tobytes())
    np.testing.assert_array_equal(read_las_waveforms(tmp_path / "a.las").groups[0].samples, SAMPLES + 0.5)


def test_a_packet_of_several_returns_is_read_once(tmp_path):
    path = write(tmp_path, SAMPLES.astype("<u2"))
    path.write_bytes(las_bytes([(60, 60, 100.0, 1 + 32), (60, 60, 900.0, 2 + 32), (120, 60, 5.0, 17)]))
    (group,) = read_las_waveforms(path).groups
    assert group.samples.shape == (2, 30)
    assert group.returns.tolist() == [2, 1]


def test_files_of_the_library_are_read(tmp_path):
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 30.0, 30.0), pose=sn.Pose((12.0, 0, 0)), material=sn.Lambertian(reflectance=0.5))
    env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=3)
    pattern = sn.patterns.Raster(
        horizontal_fov_deg=(-9.0, 9.0), vertical_fov_deg=(-4.0, 4.0), width=12, height=4, rate_hz=10.0, firing="rows"
    )
    spec = sn.Lidar(
        pattern=pattern,
        mode="waveform",
        beam=sn.Beam(half_divergence_rad=0.001, pulse_s=4e-9),
        max_range_m=40.0,
        receiver=sn.Receiver(half_field_rad=0.03),
        waveform={"keep": True, "start_s": 20e-9},
    )
    lidar = env.attach(spec)
    env.step()
    scan = lidar.read()
    save_las(tmp_path / "scan.las", scan)
    (group,) = read_las_waveforms(tmp_path / "scan.las").groups
    assert group.spacing_s == pytest.approx(scan.waveform.resolution_s)
    kept = scan.waveform.samples.reshape(-1, scan.waveform.samples.shape[-1])[np.flatnonzero(scan.valid)]
    np.testing.assert_allclose(group.samples, kept, atol=np.ptp(kept) / 65000)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"minor": 2}, "is LAS 1.2; waveforms are in 1.3 and 1.4"),
        ({"kind": 9 + 0x80}, "is compressed"),
        ({"kind": 6}, "has points of format 6"),
        ({"index": 2}, "has packets of descriptor 2; it has no such descriptor"),
        ({"index": 0}, "has no point with samples"),
        ({"spacing_ps": 0}, "it must have 8 or 16 bits"),
        ({"gain": np.nan}, "gain nan"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, changes, says):
    kind = changes.pop("kind", 9)
    minor = changes.pop("minor", 4)
    path = write(tmp_path, SAMPLES.astype("<u2"), **changes)
    data = bytearray(path.read_bytes())
    data[104], data[25] = kind, minor
    path.write_bytes(data)
    with pytest.raises(SpecError, match=says):
        read_las_waveforms(path)


def test_files_that_are_cut_off_are_refused(tmp_path):
    path = write(tmp_path, SAMPLES.astype("<u2"))
    data, packets = path.read_bytes(), (tmp_path / "a.wdp").read_bytes()
    for length in (0, 3, 100, 300, 375, 400, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(SpecError):
            read_las_waveforms(path)
    path.write_bytes(data)
    (tmp_path / "a.wdp").write_bytes(packets[:-1])
    with pytest.raises(SpecError, match="lie beyond the end"):
        read_las_waveforms(path)
    (tmp_path / "a.wdp").unlink()
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        read_las_waveforms(path)


def test_packets_that_lie_over_each_other_are_refused(tmp_path):
    path = write(tmp_path, SAMPLES.astype("<u2"))
    path.write_bytes(las_bytes([(60 + k, 60, 0.0, 17) for k in range(100)]))
    with pytest.raises(SpecError, match="over each other"):
        read_las_waveforms(path)
