"""Wave packets of LAS, read back by laspy and, byte by byte, by the standard alone."""

import struct

import laspy
import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.record import save_las
from sensorium.record.clouds.las_waves import wave_packets

C = 299_792_458.0


def fire(*, frame="sensor", returns="all", **waveform):
    """A scan of two walls, seen past an edge of the first, by a lidar that drives; some pulses meet neither."""
    scene = sn.Scene()
    for x, y, height in ((12.0, 3.0, 4.0), (17.0, 0.0, 3.0)):
        scene.add(sn.shapes.box(0.2, 6.0, height), pose=sn.Pose((x, y, 0.0)), material=sn.Lambertian(reflectance=0.5))
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(2.0, 1.0, 0.0))}, step_s=0.1)
    env = sn.Environment(scene, world, seed=3)
    pattern = sn.patterns.Raster(
        horizontal_fov_deg=(-25.0, 25.0),
        vertical_fov_deg=(-15.0, 15.0),
        width=24,
        height=8,
        rate_hz=10.0,
        firing="rows",
    )
    beam = sn.Beam(half_divergence_rad=0.02, pulse_s=4e-9)
    spec = sn.Lidar(
        pattern=pattern,
        mode="waveform",
        beam=beam,
        returns=returns,
        frame=frame,
        max_range_m=40.0,
        receiver=sn.Receiver(half_field_rad=0.03),
        waveform={"keep": True, "start_s": 20e-9, **waveform},
    )
    lidar = env.attach(spec, body="car")
    env.step()
    return lidar.read()


def parsed(path):
    """Points and descriptors of a LAS 1.4 file of format 9 by the bytes that the standard lays down, without laspy."""
    data = path.read_bytes()
    assert data[:4] == b"LASF"
    assert tuple(data[24:26]) == (1, 4)
    encoding, header_size = struct.unpack_from("<H", data, 6)[0], struct.unpack_from("<H", data, 94)[0]
    points_at, records, kind, length = struct.unpack_from("<IIBH", data, 96)
    count = struct.unpack_from("<Q", data, 247)[0]
    assert header_size == 375
    assert kind == 9
    assert struct.unpack_from("<Q", data, 227)[0] == 0  # no packets in this file
    descriptors, at = {}, header_size
    for _ in range(records):
        _, user, record, size, _ = struct.unpack_from("<H16sHH32s", data, at)
        if user.rstrip(b"\0") == b"LASF_Spec" and 100 <= record < 355:
            descriptors[record - 99] = struct.unpack_from("<BBIIdd", data, at + 54)
        at += 54 + size
    scale, offset = np.frombuffer(data, "<f8", 3, 131), np.frombuffer(data, "<f8", 3, 155)
    points = []
    for k in range(count):
        start = points_at + k * length
        xyz = np.array(struct.unpack_from("<3i", data, start)) * scale + offset
        points.append((xyz, *struct.unpack_from("<BQIffff", data, start + 30)))
    return encoding, descriptors, points


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_the_bytes_are_those_of_the_standard_and_lead_back_to_the_samples_and_to_the_sensor(tmp_path, frame):
    scan = fire(frame=frame)
    save_las(tmp_path / "c.las", scan)
    encoding, descriptors, points = parsed(tmp_path / "c.las")
    packets = (tmp_path / "c.wdp").read_bytes()
    assert encoding & 0b100  # packets in another file
    assert not encoding & 0b10
    reserved, user, record, length, _ = struct.unpack_from("<H16sHQ32s", packets)
    assert (reserved, user.rstrip(b"\0"), record, length) == (0, b"LASF_Spec", 65535, len(packets) - 60)
    assert list(descriptors) == [1]
    bits, compression, count, spacing_ps, gain, offset = descriptors[1]
    assert (bits, compression, count, spacing_ps) == (16, 0, scan.waveform.samples.shape[-1], 500)

    # Every return has the samples of its pulse, to half a step of 16 bits
    number, ring, column = np.nonzero(scan.valid)
    assert len(points) == len(number) > 50
    assert number.max() > 0
    assert not scan.valid.any(axis=0).all()
    times = np.broadcast_to(scan.start_ns + scan.offset_ns, scan.range_m.shape)[scan.valid]
    origin = scan.pose(times).position if frame == "world" else np.zeros((len(points), 3))
    for k, (xyz, index, at, size, location_ps, *d) in enumerate(points):
        assert (index, size) == (1, 2 * count)
        samples = gain * np.frombuffer(packets, "<u2", count, at).astype(float) + offset
        expected = scan.waveform.samples[ring[k], column[k]]
        np.testing.assert_allclose(samples, expected, rtol=0.0, atol=0.51 * gain)

        # The location is on the return's pulse, and the line through the point leads to the sensor at time 0
        assert samples[round(location_ps / 500)] > 0.5 * scan.intensity[number[k], ring[k], column[k]]
        left_ps = -(scan.waveform.start_s + 0.25e-9) * 1e12
        np.testing.assert_allclose(xyz + (location_ps - left_ps) * np.array(d), origin[k], atol=1e-3)
        assert np.linalg.norm(d) == pytest.approx(0.5 * C * 1e-12 / scan.waveform.index, rel=1e-6)

    # Returns of one pulse share its packet; pulses without a return have none
    pulses = np.unique(np.stack([ring, column]), axis=1).shape[1]
    assert len(packets) == 60 + 2 * count * pulses


@pytest.mark.parametrize("name", ["c.las", "c.laz"])
def test_laspy_reads_the_same(tmp_path, name):
    scan = fire()
    save_las(tmp_path / name, scan)
    cloud, packets = laspy.read(tmp_path / name), wave_packets(scan)
    assert cloud.header.point_format.id == 9
    assert cloud.header.global_encoding.waveform_data_packets_external
    for dimension, column in packets.of_points.items():
        np.testing.assert_array_equal(np.asarray(cloud[dimension]), column, err_msg=dimension)
    np.testing.assert_array_equal(np.asarray(cloud["intensity_raw"]), scan.flat().intensity)
    (record,) = (vlr for vlr in cloud.vlrs if vlr.record_id == 100)
    described = record.parsed_record
    assert (described.bits_per_sample, described.number_of_samples) == (16, scan.waveform.samples.shape[-1])
    raw = np.fromfile(tmp_path / "c.wdp", "<u2", offset=60).reshape(-1, described.number_of_samples)
    np.testing.assert_array_equal(raw, packets.samples)


def test_without_samples_there_are_no_packets_and_without_returns_an_empty_file(tmp_path):
    save_las(tmp_path / "none.las", fire(keep=False))
    assert laspy.read(tmp_path / "none.las").header.point_format.id == 6
    assert not (tmp_path / "none.wdp").exists()
    scan = fire()
    save_las(tmp_path / "empty.las", scan.voided(np.ones(scan.range_m.shape, np.bool_)))
    assert len(laspy.read(tmp_path / "empty.las").points) == 0
    assert (tmp_path / "empty.wdp").stat().st_size == 60


def test_bins_that_are_no_whole_picoseconds_are_refused(tmp_path):
    scan = fire(resolution_s=1e-9 / 3.0)
    with pytest.raises(SpecError, match=r"waveform.resolution_s is 3.33333e-10; LAS files have bins of whole picosec"):
        save_las(tmp_path / "c.las", scan)
    assert list(tmp_path.iterdir()) == []
