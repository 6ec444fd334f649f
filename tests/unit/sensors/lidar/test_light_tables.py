import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.scene.layout import layout
from sensorium.sensors.lidar import light_tables as lt
from sensorium.tracing.kernels.light import tables as tb

WAVELENGTH = 905e-9


def laid_out(*objects):
    scene = sn.Scene()
    for mesh, material in objects:
        scene.add(mesh, material=material)
    return layout(scene, 1)


def material_row(material, atmosphere=None):
    scene = laid_out((sn.shapes.box(1, 1, 1), material))
    media, inside = lt.media_of(scene, (atmosphere or sn.media.vacuum()).at(WAVELENGTH), WAVELENGTH)
    return lt.material_table(scene, media, inside, WAVELENGTH)[scene.material_index[0, 0]]


@pytest.mark.parametrize(
    ("material", "index"),
    [
        (sn.TwoLayer(refractive_index=1.5, roughness=0.1, reflectance=0.2), 1.5),
        (sn.Dielectric(refractive_index=1.5), 1.5),
        (sn.media.uniform(refractive_index=1.5), 1.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_reflection_follows_the_ratio_of_indices(material, index):
    """Under water glass reflects a tenth of what it does in air, and a volume of a medium as much as a body of it."""
    for outside in (1.0, 1.000273, 1.33, 1.5, 1.7):
        row = material_row(material, sn.media.uniform(refractive_index=outside))
        assert row[tb.M_R0] == pytest.approx(((index - outside) / (index + outside)) ** 2, rel=1e-5, abs=1e-12)
        assert row[tb.M_INDEX] == pytest.approx(index / outside)


def test_a_pane_under_water_adds_less_path_and_one_no_denser_than_its_surroundings_none():
    glass = sn.ThinGlass(refractive_index=1.5, thickness_m=0.01)
    for outside, extra in ((1.0, 0.005), (1.33, 0.0017), (1.5, 0.0), (1.6, 0.0)):
        row = material_row(glass, sn.media.uniform(refractive_index=outside))
        assert row[tb.M_PANE_OPL] == pytest.approx(extra)
        assert (row[tb.M_R0] > 0.0) == (extra > 0.0)


def test_a_law_of_returns_needs_air_that_returns_something():
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=8, rate_hz=10)
    law = {"mode": "relative", "atmospheric_law": (9.5, 0.52, 0.3)}
    scene = laid_out((sn.shapes.box(1, 1, 1), None))
    with pytest.raises(
        SpecError, match=r"atmospheric_law is \(9.5, 0.52, 0.3\) and the atmosphere a Uniform whose back"
    ):
        lt.light_tables(sn.Lidar(pattern=pattern, **law), scene, sn.media.vacuum(), None)
    for air, options in ((sn.media.air(), {}), (sn.media.vacuum(), {"atmospheric_returns": "off"})):
        tables = lt.light_tables(sn.Lidar(pattern=pattern, **law, **options), scene, air, None)
        assert tables.medium[0, tb.G_PROBABILITY] == pytest.approx(0.3)


def test_objects_without_a_material_are_gray():
    row = material_row(None)
    assert row[tb.M_DIFFUSE_A] == pytest.approx(0.5 / np.pi)
    assert row[tb.M_R0] == row[tb.M_DIFFUSE_B] == 0.0


def test_rows_hold_what_optics_says():
    """The two diffuse terms and R0 give the return back to the source, for each layering."""
    c = 0.6
    for layering in ("two_way", "agx", "plastic"):
        fields = {"roughness": 0.3, "reflectance": 0.4, "diffuse_roughness": 0.5, "layering": layering}
        row = material_row(sn.TwoLayer(refractive_index=1.5, **fields)).astype(np.float64)
        R = sn.optics.fresnel(c, n=1.5)
        layer = 1 - row[tb.M_R0] if row[tb.M_ONE_WAY] else (1 - R) ** 2
        lobe = sn.optics.ggx_monostatic(c, n=1.5, roughness=0.3)
        back = lobe + layer * (row[tb.M_DIFFUSE_A] * c + row[tb.M_DIFFUSE_B] * (1 - c * c))
        assert back == pytest.approx(sn.optics.two_layer_monostatic(c, n=1.5, **fields), rel=1e-6)
    assert material_row(sn.Mirror(reflectance=0.8))[tb.M_FIXED_R] == pytest.approx(0.8)
    assert material_row(sn.Lambertian(reflectance=0.8))[tb.M_FIXED_R] == -1.0
    assert material_row(sn.ThinGlass(thickness_m=0.01))[tb.M_PANE_OPL] == pytest.approx(0.005)


def test_media_are_numbered_and_the_first_is_the_atmosphere():
    water, fog = sn.Dielectric(medium=sn.media.water()), sn.media.fog(visibility_m=30)
    box = sn.shapes.box(1, 1, 1)
    scene = laid_out((box, None), (box, water), (box, sn.ThinGlass()), (box, fog), (box, water))
    media, inside = lt.media_of(scene, sn.media.air().at(WAVELENGTH), WAVELENGTH)
    assert [m.refractive_index for m in media] == pytest.approx([1.000273, 1.328, 1.000273], abs=1e-3)
    np.testing.assert_array_equal(inside[scene.material_index[0]], [0, 1, 0, 2, 1])
    assert media[2] == fog.at(WAVELENGTH)


def test_echo_and_quantiles_of_a_medium():
    fog = sn.media.fog(visibility_m=100.0, gamma_probability=0.3).at(WAVELENGTH)
    table, quantiles = lt.medium_tables([sn.media.vacuum().at(WAVELENGTH), fog], pulse_s=5e-9)
    assert table[1, tb.G_ECHO] == pytest.approx(fog.extinction_per_m / 20 * 299_792_458.0 * 5e-9 / 2)
    assert table[0, tb.G_PROBABILITY] == 0.0
    assert not quantiles[0].any()
    middle = np.linspace(0, 1, tb.GAMMA_POINTS + 1)[1:-1]
    np.testing.assert_allclose(quantiles[1][1:-1], stats.gamma.ppf(middle, 9.5, scale=0.52), rtol=1e-6)


def test_a_material_must_be_one():
    with pytest.raises(SceneError, match="material is a int; it must be one of"):
        material_row(3)
