"""Which cross-section an object has: told, by label, or by area and material."""

import numpy as np
import pytest

import sensorium as sn


def seen(scene, make_radar, *, bodies=None, **fields):
    """Truth of a radar at the origin that looks along x."""
    fields = {"source": "rays", "cross_sections": {}} | fields
    if fields["source"] == "rays":
        fields = {"ray_spacing_deg": 0.1} | fields
    env = sn.Environment(scene, sn.worlds.Static({name: sn.Pose() for name in bodies or ()}, step_s=0.05))
    radar = env.attach(make_radar(**fields))
    env.step()
    return radar.truth()


def plate(scene, x, y=0.0, **options):
    """A sheet of 2 m x 1 m across x, which faces the origin."""
    turned = sn.Pose.from_euler_deg(position=(x, y, 0.0), pitch=-90.0)
    volume = isinstance(options.get("material"), sn.Dielectric)
    mesh = sn.shapes.box(1.0, 2.0, 1e-3) if volume else sn.shapes.plane(1.0, 2.0)
    scene.add(mesh, pose=turned, **options)


@pytest.mark.parametrize("source", ["rays", "cone"])
@pytest.mark.parametrize(
    ("material", "fields", "reflectance"),
    [
        (None, {}, 1.0 / 9.0),
        (sn.Mirror(reflectance=0.9), {}, 1.0),
        (sn.Dielectric(refractive_index=2.0), {}, 1.0 / 9.0),
        (None, {"permittivities": {"door": "metal"}}, 1.0),
        (sn.Lambertian(reflectance=0.5), {"default_permittivity": 9.0}, 0.25),
    ],
)
def test_area_times_reflectance(make_radar, source, material, fields, reflectance):
    scene = sn.Scene()
    plate(scene, 20.0, material=material, label="door")
    found = seen(scene, make_radar, source=source, **fields)
    assert found.cross_section_m2[0] == pytest.approx(2.0 * reflectance, rel=0.03 if source == "rays" else 0.01)


@pytest.mark.parametrize(("label", "area"), [("pedestrian", 0.5), ("car", 10.0), ("truck", 100.0)])
def test_labels_have_cross_sections(make_radar, label, area):
    scene = sn.Scene()
    plate(scene, 20.0, label=label)
    assert seen(scene, make_radar).cross_section_m2[0] == pytest.approx(area, rel=0.03)
    told = seen(scene, make_radar, cross_sections={label: 3.0})
    assert told.cross_section_m2[0] == pytest.approx(3.0, rel=0.03)


def test_a_name_comes_before_a_label_and_a_shape_has_its_lobe(make_radar):
    scene = sn.Scene()
    plate(scene, 20.0, label="car", name="sign")
    shape = {"kind": "plate", "width_m": 2.0, "height_m": 1.0}
    found = seen(
        scene, make_radar, source="cone", cross_sections={"car": 5.0, "sign": {"kind": "corner", "edge_m": 0.1}}
    )

    # The plane's own x axis looks down: the corner opens there, and shows nothing straight on
    assert found.cross_section_m2[0] == pytest.approx(0.0, abs=1e-6)
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.1, 2.0, 1.0), pose=sn.Pose((20.0, 0.0, 0.0)), name="sign")
    wave = 299792458.0 / 77e9
    flash = seen(scene, make_radar, source="cone", cross_sections={"sign": shape})
    assert flash.cross_section_m2[0] == pytest.approx(4.0 * np.pi * 4.0 / wave**2, rel=1e-6)


@pytest.mark.parametrize("source", ["rays", "cone"])
def test_parts_of_one_body_share_their_label_s_cross_section(make_radar, source):
    scene = sn.Scene()
    plate(scene, 20.0, y=0.0, label="car", body="van")
    plate(scene, 20.0, y=2.0, label="car", body="van")
    plate(scene, 40.0, y=-6.0, label="car", body="other")
    found = seen(scene, make_radar, bodies=("van", "other"), source=source)
    by_object = dict(zip(found.object_id.tolist(), found.cross_section_m2.tolist(), strict=True))
    assert by_object[0] + by_object[1] == pytest.approx(10.0, rel=0.05)
    assert by_object[0] == pytest.approx(5.0, rel=0.06)
    assert by_object[2] == pytest.approx(10.0, rel=0.06)


def test_what_is_half_hidden_reflects_half_as_much(make_radar):
    scene = sn.Scene()
    plate(scene, 30.0, label="car", name="behind")
    scene.add(sn.shapes.box(0.1, 2.0, 2.0), pose=sn.Pose((15.0, 1.0, 0.0)), name="front")
    found = seen(scene, make_radar)
    behind = found.object_id.tolist().index(0)
    assert found.cross_section_m2[behind] == pytest.approx(5.0, rel=0.1)


def test_ground_is_no_target(make_radar):
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), pose=sn.Pose((0, 0, -1)), label="road")
    plate(scene, 20.0, label="car")
    assert sorted(seen(scene, make_radar).object_id.tolist()) == [0, 1]
    assert seen(scene, make_radar, ground={"z_m": -1.0}).object_id.tolist() == [1]
