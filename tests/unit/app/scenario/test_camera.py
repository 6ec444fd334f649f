"""Cameras in scenario files: images, messages and the report."""

import numpy as np
from PIL import Image

from sensorium.app.scenario import Scenario
from sensorium.app.scenario.run import run

FILE = """
title: One look
seed: 3
duration_s: 0.1
scene:
  objects:
    - {shape: {kind: box, x: 100, y: 100, z: 0.2}, material: grass, label: ground}
world: {kind: static, step_s: 0.1, bodies: {mast: {position: [0, 0, 3]}}}
sun: {elevation_deg: 40}
sensors:
  eye:
    device: pointgrey-bumblebee2
    body: mast
    columns: 16
    rows: 12
    sample_factor: 1
    pupil_rays: 1
outputs: {mcap: true, report: true, images: true}
"""


def test_a_camera_of_a_device_runs_into_images_messages_and_a_report(tmp_path):
    path = tmp_path / "look.yaml"
    path.write_text(FILE)
    run(Scenario.load(path), tmp_path / "out")
    image = np.asarray(Image.open(tmp_path / "out" / "images" / "eye" / "000000.png"))
    assert image.shape == (12, 16, 3)
    assert image.max() > 0
    assert "Image whose exposure ended at 0.050 s" in (tmp_path / "out" / "report.html").read_text()
    assert b"/eye/camera_info" in (tmp_path / "out" / "run.mcap").read_bytes()
