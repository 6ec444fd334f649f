"""Sheet of a chip: the figures of a simulated one come back, and its exposures are split."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.physics.imaging import PixelNoise
from sensorium.recordings.fit.camera import fit_camera, halves
from sensorium.recordings.readers.emva1288 import read_emva1288
from sensorium.recordings.simulate.emva1288 import simulate_emva1288
from sensorium.sensors.camera.camera import Adc

NOISE = PixelNoise(read_noise_e=9.0, dark_current_e_s=400.0, prnu=0.006, dsnu_e=3.0)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    camera = sn.Camera.from_device(
        "sony-imx900", columns=160, rows=120, full_well_e=9000.0, noise=NOISE,
        adc=Adc(bits=12, gain_dn_e=0.35, black_dn=30.0),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("chip")
    return read_emva1288(simulate_emva1288(folder, camera, quantum_efficiency=0.5, exposures=24, uniformity_images=8))


def test_the_sheet_has_the_figures_of_the_chip(images, tmp_path):
    fitted = fit_camera(images)
    (tmp_path / "chip.toml").write_text(fitted.text)
    camera = sn.Camera.from_device("chip", folder=tmp_path)
    assert (camera.columns, camera.rows, camera.bits) == (160, 120, 12)
    assert camera.full_well_e == pytest.approx(9000.0, rel=0.02)
    assert camera.adc.gain_dn_e == pytest.approx(0.35, rel=0.02)
    assert camera.adc.black_dn == pytest.approx(30.0, abs=0.2)
    assert camera.noise.read_noise_e == pytest.approx(9.0, rel=0.02)
    assert camera.noise.dark_current_e_s == pytest.approx(400.0, rel=0.1)
    assert camera.noise.prnu == pytest.approx(0.006, rel=0.05)
    assert camera.noise.dsnu_e == pytest.approx(3.0, rel=0.05)
    assert camera.bands[0].filter.value == pytest.approx((0.5, 0.5), rel=0.02)
    assert fitted.sheet.number("quantum_efficiency") == pytest.approx(0.5, rel=0.02)
    assert [pair.ratio for pair in fitted.held_out] == pytest.approx([1.0] * 6, abs=0.1)
    assert fit_camera(images, hold_out=False).held_out == ()


def test_halves_share_no_image_and_few_exposures_are_not_split(images):
    first, second = halves(images)
    mine, others = ({path for group in part.bright + part.dark for path in group.images} for part in (first, second))
    assert not mine & others
    assert len(mine | others) == 24 * 4 + 16
    few = images._replace(bright=images.bright[:6])
    assert halves(few) == (few, None)


def test_a_set_without_saturated_images_is_refused(images):
    dim = images._replace(bright=tuple(group for group in images.bright if group.photons < 14_000.0))
    with pytest.raises(SpecError, match="has no saturated images; a sheet needs the full well"):
        fit_camera(dim)
