"""Depth cameras in scenario files: images, messages and the report; the same bytes again."""

import numpy as np
import pytest
from PIL import Image

from sensorium.app.scenario import Scenario
from sensorium.app.scenario.run import run
from sensorium.core.errors import SensoriumError

FILE = """
title: One look
seed: 3
duration_s: 0.1
scene:
  objects:
    - {shape: {kind: box, x: 100, y: 100, z: 0.2}, material: grass, label: ground}
    - {shape: {kind: sphere, radius: 0.5}, pose: {position: [3, 0, 2.5]}, label: ball}
world: {kind: static, step_s: 0.1, bodies: {mast: {position: [0, 0, 3]}}}
sensors:
  eye:
    kind: depth_camera
    body: mast
    pattern: {kind: pinhole, width: 20, height: 15, focal_px: [12, 12], rate_hz: 10}
    outputs: [depth, segmentation, color]
    max_range_m: 30
    noise: {multiplier: 0.01, dropout: 0.02}
    errors: [{kind: quantization, step_m: 0.001}]
    randomize: {when: step, placement: {min_rotation_deg: [-2, -2, -2], max_rotation_deg: [2, 2, 2]}}
outputs: {mcap: true, report: true, images: true}
"""


def test_it_runs_into_images_messages_and_a_report_and_repeats(tmp_path):
    path = tmp_path / "look.yaml"
    path.write_text(FILE)
    for out in ("out", "again"):
        run(Scenario.load(path), tmp_path / out)
    depth = np.asarray(Image.open(tmp_path / "out" / "images" / "eye" / "000000_depth.tiff"))
    assert depth.shape == (15, 20)
    assert 2.0 < np.nanmin(depth[np.isfinite(depth)]) < 3.0
    report = (tmp_path / "out" / "report.html").read_text()
    for words in ("Depth at 0.100 s", "Segmentation at 0.100 s", "Color at 0.100 s"):
        assert words in report
    assert "there is no plot" not in report
    first, second = ((tmp_path / out / "run.mcap").read_bytes() for out in ("out", "again"))
    assert b"/eye/camera_info" in first
    assert first == second


def test_a_mistake_is_told_with_its_place(tmp_path):
    path = tmp_path / "look.yaml"
    path.write_text(FILE.replace("max_range_m: 30", "max_range_m: 0.1"))
    with pytest.raises(SensoriumError, match=r"min_range_m is 0\.2 and max_range_m 0\.1"):
        Scenario.load(path)
