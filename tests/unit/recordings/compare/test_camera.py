"""A simulated chip beside an image set: its twin agrees, one of more noise or another gain does not."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.compare.camera import compare_camera, simulate_images
from sensorium.recordings.fit.camera import fit_camera
from tests.unit.recordings.compare.changed import changed_sheet, verdicts
from tests.unit.recordings.fit.test_camera import images  # noqa: F401


def test_a_twin_agrees_on_exposures_that_were_held_out(images, tmp_path):  # noqa: F811
    found = compare_camera(images, describe(changed_sheet(tmp_path, fit_camera(images).text)))
    assert found.remarks[0] == "the sheet was fitted to the other exposures of this recording; these were held out"
    assert found.count("differs") == 0
    assert found.count("agrees") >= 10


def test_other_chips_differ_in_what_is_other(images, tmp_path):  # noqa: F811
    text = fit_camera(images).text
    found = verdicts(compare_camera(images, describe(changed_sheet(tmp_path, text, dark_noise=1.1, prnu=1.3))))
    assert found["dark_noise"] == found["prnu"] == {"differs"}
    assert found["system_gain"] == found["full_well"] == {"agrees"}


def test_the_simulated_set_has_the_exposures_of_the_real_one(images, tmp_path):  # noqa: F811
    device = describe(changed_sheet(tmp_path, fit_camera(images).text))
    made, again, other = (simulate_images(device, images, seed)[0] for seed in (1, 1, 2))
    assert (made.bright, made.dark, made.width) == (images.bright, images.dark, images.width)
    path = images.bright[3].images[0]
    np.testing.assert_array_equal(made.read(path), again.read(path))
    assert (made.read(path) != other.read(path)).mean() > 0.5
    assert made.read(path).mean() == pytest.approx(images.read(path).mean(), rel=0.02)


def test_devices_that_do_not_fit_are_refused(images, tmp_path):  # noqa: F811
    with pytest.raises(SpecError, match=r"device 'velodyne-vlp16' is of kind 'lidar'; 'chip\d*' is of a camera"):
        compare_camera(images, describe("velodyne-vlp16"))
    text = fit_camera(images).text
    (tmp_path / "blind.toml").write_text(text[: text.index("[quantum_efficiency]")])
    with pytest.raises(SpecError, match="device 'blind' states no quantum_efficiency"):
        compare_camera(images, describe(tmp_path / "blind.toml"))
