"""Cameras as ROS 2 messages: the picture as it is, and how the camera projects."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.physics.imaging import Band

CHIP = {
    "pupil_distance_m": 6.05e-3,
    "width_m": 6.4e-3,
    "height_m": 4.8e-3,
    "columns": 16,
    "rows": 12,
    "focal_length_m": 6e-3,
    "pupil_radius_m": 0.5e-3,
    "exposure_s": 1e-6,
    "full_well_e": 1e5,
    "sample_factor": 1,
    "pupil_rays": 1,
}


def recorded(path, camera):
    """An image of level ground, and the file it was recorded to."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0, 100.0))
    world = sn.worlds.Static({"mast": sn.Pose(position=(0, 0, 5))}, step_s=0.1)
    env = sn.Environment(scene, world, sun=Sun(elevation_deg=50))
    sensor = env.attach(camera, body="mast", pose=sn.Pose.from_euler_deg(pitch=40.0), name="eye")
    with sn.record.McapRecorder(path) as recorder:
        env.step()
        recorder.record(env)
    return sensor.read()


def test_a_color_image_comes_back_pixel_by_pixel_with_its_projection(tmp_path, read_back):
    reading = recorded(tmp_path / "run.mcap", sn.Camera(**CHIP, distortion=2e3))
    assert reading.image.min() < reading.image.max()
    images, infos = (read_back(tmp_path / "run.mcap", f"/eye/{end}") for end in ("image_raw", "camera_info"))
    for (image,), (info,) in zip(images, infos, strict=True):
        assert (image.width, image.height, image.encoding, image.step) == (16, 12, "rgb8", 48)
        np.testing.assert_array_equal(np.frombuffer(bytes(image.data), np.uint8).reshape(12, 16, 3), reading.image)
        assert image.header.frame_id == info.header.frame_id == "eye_optical"
        stamps = {(m.header.stamp.sec, m.header.stamp.nanosec) for m in (image, info)}
        assert stamps == {(0, 0)}
        assert info.k[0] == pytest.approx(6.05e-3 / 0.4e-3)
        assert (info.k[2], info.k[5]) == (7.5, 5.5)
        assert info.distortion_model == "plumb_bob"
        assert info.d[0] == pytest.approx(-2e3 * 6.05e-3**3)


def test_the_optical_frame_looks_along_z_with_y_down(tmp_path, read_back):
    recorded(tmp_path / "run.mcap", sn.Camera(**CHIP))
    for (message,) in read_back(tmp_path / "run.mcap", "/tf_static"):
        by_child = {t.child_frame_id: t for t in message.transforms}
        assert by_child["eye"].header.frame_id == "mast"
        optical = by_child["eye_optical"]
        assert optical.header.frame_id == "eye"
        q = optical.transform.rotation
        pose = sn.Pose((0, 0, 0), (q.w, q.x, q.y, q.z))
        np.testing.assert_allclose(pose.rotate((0.0, 0.0, 1.0)), (1.0, 0.0, 0.0), atol=1e-12)
        np.testing.assert_allclose(pose.rotate((1.0, 0.0, 0.0)), (0.0, -1.0, 0.0), atol=1e-12)
        np.testing.assert_allclose(pose.rotate((0.0, 1.0, 0.0)), (0.0, 0.0, -1.0), atol=1e-12)


def test_what_automatics_set_is_beside_the_image(tmp_path, read_back):
    camera = sn.Camera(
        **CHIP | {"full_well_e": 1e6},
        auto_exposure={"max_exposure_s": 1e-3, "max_gain": 2.0, "min_exposure_s": 1e-8},
        white_balance={"kind": "gray_world"},
    )
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0, 100.0), material=sn.Lambertian(reflectance=((4e-7, 0.6), (7e-7, 0.1))))
    env = sn.Environment(
        scene, sn.worlds.Static({"mast": sn.Pose(position=(0, 0, 5))}, step_s=0.1), sun=Sun(elevation_deg=50)
    )
    sensor = env.attach(camera, body="mast", pose=sn.Pose.from_euler_deg(pitch=40.0), name="eye")
    expected = []
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in range(3):
            env.step()
            recorder.record(env)
            image = sensor.read()
            expected.append((float(image.exposure_s), float(image.gain), *image.balance))
    assert len({one[0] for one in expected}) == len({one[2:] for one in expected}) == 3
    topics = ("exposure_s", "gain", *(f"white_balance_{name}" for name in image.bands))
    for column, end in enumerate(topics):
        for messages in read_back(tmp_path / "run.mcap", f"/eye/{end}"):
            assert [message.data for message in messages] == [one[column] for one in expected]


def test_mosaics_and_sixteen_bits_say_so(tmp_path, read_back):
    raw = sn.Camera(**CHIP, mosaic="grbg", demosaic=False, bits=12)
    reading = recorded(tmp_path / "run.mcap", raw)
    for (image,) in read_back(tmp_path / "run.mcap", "/eye/image_raw"):
        assert image.encoding == "bayer_grbg16"
        np.testing.assert_array_equal(np.frombuffer(bytes(image.data), "<u2").reshape(12, 16), reading.image)


def test_other_numbers_of_bands_are_a_picture_each_and_a_fisheye_is_equidistant(tmp_path, read_back):
    bands = tuple(Band(name=n, filter=((5e-7, v), (6e-7, v))) for n, v in (("low", 0.2), ("high", 0.8)))
    camera = sn.Camera(**CHIP, bands=bands, lens="fisheye", lens_coefficients=(0.01, 0.0, 0.0, 0.0))
    reading = recorded(tmp_path / "run.mcap", camera)
    found = [read_back(tmp_path / "run.mcap", f"/eye/{end}") for end in ("image_low", "image_high", "camera_info")]
    for (low,), (high,), (info,) in zip(*found, strict=True):
        assert low.encoding == high.encoding == "mono8"
        np.testing.assert_array_equal(np.frombuffer(bytes(high.data), np.uint8).reshape(12, 16), reading.image[..., 1])
        assert info.distortion_model == "equidistant"
        assert tuple(info.d) == (0.01, 0.0, 0.0, 0.0)
