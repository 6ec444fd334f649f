"""Reflectances that colors and errors of depth cameras follow from."""

import numpy as np

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.sensors.depth_camera.tint_tables import material_reflectances, tints


def scene_of(*materials):
    scene = sn.Scene()
    for material in materials:
        scene.add(sn.shapes.box(1, 1, 1), material=material)
    return layout(scene, 1)


def test_matt_glossy_mirroring_unknown_and_no_material():
    known = sn.Lambertian(reflectance=((900e-9, 0.3), (910e-9, 0.3)))
    paint = sn.TwoLayer(refractive_index=1.5, roughness=0.3, reflectance=0.4, diffuse_roughness=0.2)
    table = scene_of(sn.Lambertian(reflectance=0.2), paint, sn.Mirror(reflectance=0.9), known)
    r0 = 0.04
    np.testing.assert_allclose(
        material_reflectances(table, 550e-9), [0.5, 0.2, r0 + (1.0 - r0) * 0.4, 0.9, 0.5], rtol=1e-6
    )


def test_meshes_that_say_their_colors():
    box = sn.shapes.box(1.0, 1.0, 1.0)
    colors = np.random.default_rng(0).uniform(size=(len(box.faces), 3))
    scene = sn.Scene()
    scene.add(
        sn.Mesh(box.vertices, box.faces, face_properties={"color": colors}),
        material=sn.Lambertian(reflectance="color"),
    )
    scene.add(box)
    made = tints(layout(scene, 1), None)
    np.testing.assert_array_equal(made.face_first, [[0, -1]])
    np.testing.assert_allclose(made.face, colors, rtol=1e-6)
    np.testing.assert_array_equal(made.sun, 0.0)


def test_the_sun_below_the_horizon_leaves_the_lamp():
    table = scene_of()
    np.testing.assert_array_equal(tints(table, sn.fields.Sun(elevation_deg=-5.0)).sun, 0.0)
    np.testing.assert_allclose(tints(table, sn.fields.Sun(elevation_deg=90.0)).sun, [0.0, 0.0, 1.0], atol=1e-6)
