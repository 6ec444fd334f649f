"""A simulated stereo camera before recorded planes: its twin agrees, one of more noise or other steps does not."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.compare.depth_camera import compare_depth_camera, simulate_frames
from sensorium.recordings.fit.depth_camera import fit_depth_camera
from tests.unit.recordings.compare.changed import changed_sheet, verdicts
from tests.unit.recordings.measure.test_depth_camera import wall


@pytest.fixture(scope="module")
def recording():
    return wall(np.random.default_rng(9), noise_px=0.09, quantum_px=1 / 16, frames=4)


def test_a_twin_agrees_on_frames_that_were_held_out(recording, tmp_path):
    found = compare_depth_camera(recording, describe(changed_sheet(tmp_path, fit_depth_camera(recording).text)))
    assert "frames of this recording; these were held out" in found.remarks[0]
    assert found.count("differs") == 0
    assert found.count("agrees") >= 5


def test_other_cameras_differ_in_what_is_other(recording, tmp_path):
    text = fit_depth_camera(recording).text
    found = verdicts(compare_depth_camera(recording, describe(changed_sheet(tmp_path, text, disparity_noise=1.5))))
    assert found["disparity_noise"] == found["disparity_noise.frame_to_frame"] == {"differs"}
    assert found["disparity_quantum"] == {"agrees"}
    found = verdicts(compare_depth_camera(recording, describe(changed_sheet(tmp_path, text, disparity_quantum=0.5))))
    assert found["disparity_quantum"] == {"differs"}


def test_planes_are_where_they_were_recorded(recording, tmp_path):
    device = describe(changed_sheet(tmp_path, fit_depth_camera(recording).text, disparity_noise=1e-3))
    made, _ = simulate_frames(device, recording, 0)
    seen = made.codes[0] > 0
    assert seen[:231, 42:315].all()  # left of it points lie beyond the second eye's image
    assert not seen[231:].any()
    near = recording.disparity_of_m / (recording.codes.astype(float) * recording.unit_m)
    again = recording.disparity_of_m / (made.codes[0][seen] * made.unit_m)
    assert again == pytest.approx(near.mean(axis=0)[seen], abs=0.4)
    assert (again - near.mean(axis=0)[seen]).std() < 0.07


def test_a_camera_of_another_principle_is_refused(recording):
    with pytest.raises(SpecError, match=r"'microsoft-azure-kinect-nfov' is no stereo camera; 'wall.bag' is of one"):
        compare_depth_camera(recording, describe("microsoft-azure-kinect-nfov"))
