"""Objects whose material fills them must be closed; however they come into a scene."""

import re
import warnings

import numpy as np
import pytest

import sensorium as sn
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import SceneError, SensoriumError
from sensorium.scene.partition.split import MeshFile

WATER, FOG, GLASS = sn.media.water(), sn.media.fog(visibility_m=50.0), sn.Dielectric(refractive_index=1.5)
BOX = sn.shapes.box(2.0, 2.0, 2.0)
INWARD = sn.Mesh(BOX.vertices, BOX.faces[:, ::-1])
OPEN = sn.Mesh(BOX.vertices, BOX.faces[2:])
SENTENCE = "object 'tank' is a volume of Water and its mesh is open at 4 edges; it must be closed, as sn.shapes.box is"


@pytest.mark.parametrize("material", [WATER, FOG, GLASS])
def test_open_volumes_are_refused_and_inward_ones_turned(material):
    scene, kind = sn.Scene(), type(material).__name__
    for mesh in (OPEN, sn.shapes.plane(3.0), sn.shapes.heightfield(np.zeros((4, 4)), 1.0, 1.0)):
        with pytest.raises(SceneError, match=f"object 'tank' is a volume of {kind} and its mesh is open at"):
            scene.add(mesh, material=material, label="tank")
    assert scene.objects == ()
    assert scene.add(BOX, material=material).mesh is BOX
    turned = scene.add(INWARD, material=material, name="inside out").mesh
    np.testing.assert_array_equal(np.sort(turned.faces), np.sort(BOX.faces))
    assert scene.add(INWARD, material=material).mesh is turned  # shared as the mesh was

    some = BOX.faces.copy()
    some[3] = some[3, ::-1]
    with pytest.raises(SceneError, match=r"an object is a volume of .* wound against each other at 3 edges"):
        scene.add(sn.Mesh(BOX.vertices, some), material=material)


def test_surfaces_may_be_open_and_wound_as_they_like():
    scene = sn.Scene()
    for material in (None, sn.Lambertian(reflectance=0.5), sn.Mirror(reflectance=0.9), sn.ThinGlass()):
        for mesh in (OPEN, INWARD, sn.shapes.plane(1.0)):
            assert scene.add(mesh, material=material).mesh is mesh


def test_every_way_into_a_scene_is_checked(tmp_path):
    with pytest.raises(SceneError, match=re.escape(SENTENCE)):
        sn.SceneObject(OPEN, material=WATER, label="tank")
    place = sn.Pose(np.zeros((1, 3)))
    with pytest.raises(SceneError, match=re.escape(SENTENCE)):
        sn.SceneBatch([sn.SceneObject(OPEN, material=WATER, name="tank")], index=[[0]], pose=place)

    path = tmp_path / "tank.npz"
    np.savez(path, vertices=OPEN.vertices, faces=OPEN.faces)
    with pytest.raises(SceneError, match=re.escape(SENTENCE)):
        sn.split_scene([MeshFile(path, material=WATER, name="tank")], tmp_path / "parts", parts=2)
    np.savez(path, vertices=INWARD.vertices, faces=INWARD.faces)
    assert (MeshFile(path, material=WATER).load().faces != INWARD.faces).any()
    assert (MeshFile(path).load().faces == INWARD.faces).all()

    (tmp_path / "pool.yaml").write_text(
        "duration_s: 1\nscene:\n  objects:\n"
        "    - {shape: {kind: plane, size: 4}, name: pool, material: {kind: water}}\n"
    )
    with pytest.raises(SensoriumError, match="object 'pool' is a volume of Water and its mesh is open"):
        Scenario.load(tmp_path / "pool.yaml").environment()


def test_geoms_of_mujoco_are_checked():
    mujoco = pytest.importorskip("mujoco")
    from sensorium.worlds.mujoco.scene import model_scene

    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom name='sea' type='plane' size='1 1 .1'/><geom name='tank' type='box' size='1 1 1'/>"
        "</worldbody></mujoco>"
    )
    with pytest.raises(SceneError, match="object 'sea' is a volume of Dielectric and its mesh is open"):
        model_scene(model, (), materials={"sea": GLASS})
    assert len(model_scene(model, (), materials={"tank": GLASS}).objects) == 2


def test_pieces_of_a_volume_that_is_cut_are_no_open_volumes(tmp_path):
    big = sn.shapes.sphere(5.0, 4)
    index = sn.split_scene([sn.SceneObject(big, material=FOG)], tmp_path / "parts", parts=3)
    assert len(index.parts) == 3
    for part in index.parts:
        piece = sn.Mesh.load(tmp_path / "parts" / part.folder / part.pieces[0].file)
        assert sn.SceneObject(piece, material=FOG).mesh is piece


def test_glass_as_a_thin_closed_body_is_told_of_once():
    pane = sn.shapes.box(2.0, 1.0, 0.01)
    with pytest.warns(UserWarning, match="object 'window' is of ThinGlass and its mesh is a thin closed body") as told:
        sn.Scene().add(pane, material=sn.ThinGlass(), name="window")
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene = sn.Scene()
        scene.add(sn.shapes.plane(2.0, 1.0), material=sn.ThinGlass())
        scene.add(sn.shapes.box(3.0, 3.0, 2.0), material=sn.ThinGlass(), label="greenhouse")
        scene.add(sn.shapes.box(2.0, 1.0, 0.01), material=GLASS, label="plate")
