"""Images as PNG files."""

import numpy as np
import pytest
from PIL import Image

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.physics.fields import Sun
from sensorium.physics.imaging.filters import panchromatic
from sensorium.record.images import eight_bits

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


def environment(worlds=None, **options):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0, 100.0))
    world = sn.worlds.Static({"mast": sn.Pose(position=(0, 0, 5))}, step_s=0.1)
    env = sn.Environment(scene, world, sun=Sun(elevation_deg=50), worlds=worlds)
    return env, env.attach(sn.Camera(**CHIP | options), body="mast", name="eye")


def test_every_second_image_is_a_file_with_its_pixels(tmp_path):
    env, eye = environment()
    with sn.record.ImageRecorder(tmp_path, every=2) as recorder:
        for _ in env.run(0.3):
            recorder.record(env)
    assert sorted(path.name for path in (tmp_path / "eye").iterdir()) == ["000000.png", "000002.png"]
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "eye" / "000002.png")), eye.read().image)


def test_gray_keeps_its_bits_and_colors_lose_the_lower_ones(tmp_path):
    env, eye = environment(bands=panchromatic(), bits=12)
    with sn.record.ImageRecorder(tmp_path) as recorder:
        env.step()
        recorder.record(env)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "eye" / "000000.png")), eye.read().image)
    np.testing.assert_array_equal(eight_bits(np.array([[0, 15, 16, 4095]], np.uint16), 12), [[0, 0, 1, 255]])


def test_worlds_have_folders_and_wrong_options_are_refused(tmp_path):
    env, _ = environment(worlds=2)
    with sn.record.ImageRecorder(tmp_path) as recorder:
        env.step()
        recorder.record(env)
    assert (tmp_path / "world_1" / "eye" / "000000.png").is_file()
    with pytest.raises(SpecError, match="is closed; nothing can be recorded any more"):
        recorder.record(env)
    with pytest.raises(SpecError, match="every is 0; it must be at least 1"):
        sn.record.ImageRecorder(tmp_path, every=0)
    with pytest.raises(SpecError, match="no sensor is named 'ear'; there are eye"):
        sn.record.ImageRecorder(tmp_path, sensors=["ear"]).record(env)


def test_outputs_of_a_depth_camera_are_a_file_each(tmp_path):
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 10.0, 10.0), pose=sn.Pose(position=(3.1, 5.0, 0.0)), label=300)
    env = sn.Environment(scene, sn.worlds.Static({"mast": sn.Pose()}, step_s=0.1), worlds=1)
    pattern = sn.patterns.Pinhole.from_fov(16, 12, 80.0, rate_hz=10.0)
    outputs = {"depth", "range", "points", "segmentation", "normals", "color", "flow"}
    eye = env.attach(sn.DepthCamera(pattern=pattern, outputs=outputs, normalize=True), body="mast", name="eye")
    with sn.record.ImageRecorder(tmp_path) as recorder:
        env.step()
        recorder.record(env)
    folder, image = tmp_path / "world_0" / "eye", eye.read()
    endings = ("color.png", "depth.tiff", "normals.png", "range.tiff", "segmentation.png")
    assert sorted(path.name for path in folder.iterdir()) == [f"000000_{end}" for end in endings]
    depth = np.asarray(Image.open(folder / "000000_depth.tiff"))
    seen = image.valid[0]
    assert 0 < seen.sum() < seen.size
    np.testing.assert_allclose(depth[seen], 3.0, rtol=1e-5)
    assert (depth[~seen] == np.inf).all()
    np.testing.assert_array_equal(
        np.asarray(Image.open(folder / "000000_segmentation.png")), np.where(seen, 300, 65535)
    )
    np.testing.assert_array_equal(np.asarray(Image.open(folder / "000000_color.png")), image.color[0])
    normals = np.asarray(Image.open(folder / "000000_normals.png")) / 127.5 - 1.0
    np.testing.assert_allclose(normals[seen], image.normals[0][seen], atol=1.0 / 127.0)
