"""A scene from a MuJoCo model: every kind of geom, where it is, what it is called, and how fine it is."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.worlds.mujoco.scene import geom_mesh, luminance

MODEL = """
<mujoco>
  <option gravity="0.5 0 -3.7"/>
  <asset>
    <material name="paint" rgba="1 0 0 1"/>
    <mesh name="wedge" vertex="0 0 0  2 0 0  0 1 0  0 0 1.5" face="0 2 1 0 1 3 0 3 2 1 2 3"/>
    <hfield name="hills" nrow="3" ncol="4" size="4 3 0.5 0.2" elevation="0 1 2 3 4 5 6 7 8 3 1 0"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom type="hfield" hfield="hills" pos="20 0 0"/>
    <body name="cart" pos="0 0 1" quat="0.9 0.1 0.2 0.3">
      <freejoint/>
      <geom name="hull" type="box" size="1 2 0.5" pos="0.1 0.2 0.3" quat="0.5 0.5 -0.5 0.5" material="paint"/>
      <geom type="sphere" size="0.7" rgba="0 1 0 0.5"/>
      <geom type="sphere" size="0.7" rgba="0 1 0 0.5" pos="1 0 0"/>
      <geom name="ghost" type="sphere" size="0.7" rgba="0 1 0 0"/>
      <geom name="hit box" type="box" size="1 1 1" group="3"/>
      <site name="imu" pos="0.3 -0.2 0.1" quat="0.5 0.5 0.5 -0.5"/>
      <body>
        <joint name="turret"/>
        <geom name="barrel" type="capsule" size="0.2 0.8"/>
        <geom name="egg" type="ellipsoid" size="0.3 0.5 0.2"/>
        <geom name="can" type="cylinder" size="0.4 0.6"/>
        <geom name="wedge" type="mesh" mesh="wedge" pos="1 2 3" material="paint" rgba="0 0 1 1"/>
      </body>
    </body>
    <site name="mast" pos="0 0 5"/>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def world():
    return sn.worlds.MuJoCo(MODEL)


def named(scene, name):
    return next(each for each in scene.objects if each.name == name)


def test_names_bodies_and_labels(world):
    scene = world.scene()
    assert [(o.name, o.body, o.label) for o in scene.objects] == [
        ("floor", None, "floor"),
        ("geom1", None, "world"),
        ("hull", "cart", "hull"),
        ("geom3", "cart", "cart"),
        ("geom4", "cart", "cart"),
        ("barrel", "body2", "barrel"),
        ("egg", "body2", "egg"),
        ("can", "body2", "can"),
        ("wedge", "body2", "wedge"),
    ]
    assert named(scene, "geom3").mesh is named(scene, "geom4").mesh


def test_groups(world):
    assert {o.name for o in world.scene(groups=[3]).objects} == {"hit box"}
    assert len(world.scene(groups=range(6)).objects) == 10
    for wrong in ((6,), "visual"):
        with pytest.raises(SpecError, match="it must hold numbers from 0 to 5"):
            world.scene(groups=wrong)


def test_poses_are_those_on_the_body(world):
    assert named(world.scene(), "hull").pose.almost_equal(sn.Pose((0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5)))

    # MuJoCo keeps a mesh about its center of mass; put together, its corners are where the file has them
    wedge = named(world.scene(), "wedge")
    corners = wedge.pose.apply(wedge.mesh.vertices) - (1, 2, 3)
    expected = np.array([(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1.5)])
    np.testing.assert_allclose(np.abs(corners[:, None] - expected).max(axis=-1).min(axis=0), 0.0, atol=1e-6)


def test_colors(world):
    scene = world.scene()
    colors = {"hull": (1, 0, 0, 1), "geom3": (0, 1, 0, 0.5), "wedge": (0, 0, 1, 1), "can": (0.5, 0.5, 0.5, 1)}
    for name, rgba in colors.items():
        mesh = named(scene, name).mesh
        np.testing.assert_array_equal(mesh.vertex_properties["color"], np.tile(rgba, (len(mesh.vertices), 1)))
    assert named(scene, "hull").material.reflectance == pytest.approx(0.2126)
    assert named(scene, "wedge").material.reflectance == pytest.approx(0.0722)
    assert named(scene, "can").material.reflectance == pytest.approx(0.2140, abs=5e-5)
    assert luminance((0.0, 0.0, 0.0, 1.0)) == 0.0
    assert luminance((1.0, 1.0, 1.0, 1.0)) == pytest.approx(1.0)


def test_materials_by_geom_and_by_material(world):
    mirror, paint = sn.Mirror(reflectance=0.9), sn.Lambertian(reflectance=0.3)
    scene = world.scene(materials={"paint": paint, "wedge": mirror, "geom1": paint})
    assert named(scene, "hull").material is paint
    assert named(scene, "wedge").material is mirror
    assert named(scene, "geom1").material is paint
    with pytest.raises(SpecError, match="no such geom and no such material"):
        world.scene(materials={"pant": paint})
    assert named(world.scene(materials={"paint": "concrete"}), "hull").material is sn.materials.load("concrete")
    with pytest.raises(SpecError, match="material is 'red'; the library has no such name"):
        world.scene(materials={"paint": "red"})
    with pytest.raises(SpecError, match="it must be a material"):
        world.scene(materials={"paint": 3})


def watertight(mesh):
    edges = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    there, back = ({tuple(edge) for edge in e.tolist()} for e in (edges, edges[:, ::-1]))
    return len(there) == len(edges) and there == back


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def test_a_height_field_is_a_solid(world):
    mesh = named(world.scene(), "geom1").mesh
    assert watertight(mesh)

    # Elevations scaled to [0, 1] times 0.5 m, the last row at the smallest y as one would write a map; the volume of
    # two prisms over each cell, 8/3 m x 3 m, split from its lower left to its upper right corner
    z = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 1, 0]).reshape(3, 4)[::-1] / 8 * 0.5
    low, high = (z[:-1, :-1] + z[1:, 1:] + z[:-1, 1:]) / 3, (z[:-1, :-1] + z[1:, 1:] + z[1:, :-1]) / 3
    assert volume(mesh) == pytest.approx(float((low + high).sum()) * 4.0 + 8 * 6 * 0.2, rel=1e-6)
    np.testing.assert_allclose(mesh.bounds, [(-4, -3, -0.2), (4, 3, 0.5)], rtol=1e-6)


@pytest.mark.parametrize("name", ["geom3", "barrel", "egg", "can"])
@pytest.mark.parametrize("sag_m", [1e-2, 1e-3, pytest.param(1e-4, marks=pytest.mark.slow)])
def test_round_geoms_lie_inside_by_at_most_the_sag(world, name, sag_m):
    mesh = named(world.scene(sag_m=sag_m), name).mesh
    depth = {
        "geom3": lambda p: 0.7 - np.linalg.norm(p, axis=-1),
        "barrel": lambda p: 0.2 - np.linalg.norm(p - np.clip(p, (0, 0, -0.8), (0, 0, 0.8)), axis=-1),
        "egg": lambda p: 0.5 * (1 - np.linalg.norm(p / (0.3, 0.5, 0.2), axis=-1)),
        "can": lambda p: np.minimum(0.4 - np.hypot(p[..., 0], p[..., 1]), 0.6 - np.abs(p[..., 2])),
    }[name]
    rng = np.random.default_rng(1)
    weights = rng.dirichlet((1, 1, 1), (len(mesh.faces), 20))
    points = np.einsum("fki,fij->fkj", weights, mesh.vertices[mesh.faces])
    assert depth(points).max() <= sag_m
    assert depth(points).max() > 0.2 * sag_m, "finer than asked for"
    assert depth(points).min() > -1e-9
    assert watertight(mesh)


def test_the_finest_facets_have_a_bound():
    dome = sn.worlds.MuJoCo('<mujoco><worldbody><geom type="sphere" size="100"/></worldbody></mujoco>')
    assert len(dome.scene().objects[0].mesh.faces) == 20 * 4**7
    for name in ("sag_m", "infinite_m"):
        with pytest.raises(SpecError, match=f"{name} is 0"):
            dome.scene(**{name: 0})


def test_planes(world):
    np.testing.assert_array_equal(named(world.scene(), "floor").mesh.bounds, [(-1024, -1024, 0), (1024, 1024, 0)])
    np.testing.assert_array_equal(named(world.scene(infinite_m=50), "floor").mesh.bounds, [(-50, -50, 0), (50, 50, 0)])
    small = sn.worlds.MuJoCo('<mujoco><worldbody><geom type="plane" size="3 0 1"/></worldbody></mujoco>').scene()
    np.testing.assert_array_equal(small.objects[0].mesh.bounds, [(-3, -1024, 0), (3, 1024, 0)])


def test_a_signed_distance_field_is_its_mesh():
    plugin = Path(mujoco.__file__).parent / "plugin" / "libsdf_plugin.so"
    torus = '<config key="radius1" value="0.35"/><config key="radius2" value="0.15"/>'
    text = f"""<mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="t">{torus}</instance></plugin>
        </extension><asset><mesh name="t"><plugin instance="t"/></mesh></asset>
        <worldbody><geom type="sdf" name="ring" mesh="t" pos="1 2 3"><plugin instance="t"/></geom></worldbody>
        </mujoco>"""
    try:
        world = sn.worlds.MuJoCo(text)
    except SpecError:
        pytest.skip(f"this MuJoCo has no SDF plugin at {plugin.name}")
    (ring,) = world.scene().objects
    x, y, z = (ring.pose.apply(ring.mesh.vertices) - (1, 2, 3)).T
    np.testing.assert_allclose(np.hypot(np.hypot(x, y) - 0.35, z), 0.15, atol=2e-3)


def test_numbers_that_are_not_finite_name_the_geom():
    model = mujoco.MjModel.from_xml_string(MODEL)
    model.geom_pos[2] = np.nan
    with pytest.raises(SceneError, match="geom 'hull' of the model: position holds nan"):
        sn.worlds.MuJoCo(model).scene()
    model.geom_type[0] = int(mujoco.mjtGeom.mjGEOM_ARROW)
    with pytest.raises(SceneError, match="its type is mjGEOM_ARROW"):
        geom_mesh(model, 0, sag_m=1e-3, infinite_m=10.0, plane_backs=True)


# ---- sites, and the environment


def test_sites_are_mounts(world):
    mount = world.site("imu")
    assert mount["body"] == "cart"
    assert mount["pose"].almost_equal(sn.Pose((0.3, -0.2, 0.1), (0.5, 0.5, 0.5, -0.5)))
    assert world.site("mast") == {"body": None, "pose": sn.Pose((0, 0, 5))}
    for wrong in ("imo", ""):
        with pytest.raises(SpecError, match="it has mast, imu"):
            world.site(wrong)


def test_from_mujoco_joins_scene_world_and_gravity():
    env = sn.Environment.from_mujoco(MODEL, groups=(0,), worlds=2, seed=3)
    assert env.seed == 3
    assert len(env.scene.objects) == 9
    mast = env.attach(sn.Accelerometer(timing=sn.Timing(rate_hz=100.0)), **env.world.site("mast"))
    for _ in env.run(0.1):
        pass
    np.testing.assert_allclose(mast.read().acceleration, [[-0.5, 0, 3.7]] * 2, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_planes_without_backs_are_met_as_by_the_engines_own_rays(seed):
    """Rays from anywhere among planes at any angle and boxes, on bodies that are turned."""
    rng = np.random.default_rng(seed)

    def geom(kind, size):
        pose = f'pos="{" ".join(map(str, rng.uniform(-2, 2, 3)))}" quat="{" ".join(map(str, rng.normal(size=4)))}"'
        return f'<geom type="{kind}" size="{size}" {pose}/>'

    geoms = "".join(geom("plane", "2 1.5 1") for _ in range(4)) + "".join(geom("box", ".3 .4 .5") for _ in range(4))
    model = f"<mujoco><worldbody>{geoms}</worldbody></mujoco>"
    world = sn.worlds.MuJoCo(model)
    world.start(1)
    origin, direction = rng.uniform(-3.0, 3.0, (500, 3)), rng.normal(size=(500, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    found = np.array(
        [mujoco.mj_ray(world.model, world.data[0], o, d, None, 1, -1, np.zeros(1, np.int32))
         for o, d in zip(origin, direction, strict=True)]
    )  # fmt: skip
    found[found < 0.0] = np.inf
    inside = np.zeros(500, np.bool_)  # of a box, where one engine meets its far wall and the other nothing
    for i in range(4, 8):
        local = (origin - world.data[0].geom_xpos[i]) @ world.data[0].geom_xmat[i].reshape(3, 3)
        inside |= (np.abs(local) < world.model.geom_size[i]).all(axis=1)
    ours = sn.RayCaster(world.scene(plane_backs=False)).cast(origin, direction).range_m
    np.testing.assert_allclose(ours[~inside], found[~inside], rtol=1e-5, atol=1e-5)
    assert (ours != sn.RayCaster(world.scene()).cast(origin, direction).range_m).mean() > 0.1


def test_planes_have_backs_unless_told(world):
    floor = named(world.scene(), "floor").mesh
    assert floor.one_sided is None
    assert "one_sided" not in floor.property_names
    without = named(world.scene(plane_backs=False), "floor").mesh
    assert without.one_sided.all()
    assert np.array_equal(without.vertices, floor.vertices)
    with pytest.raises(SpecError, match="plane_backs is 'no'; it must be True or False"):
        world.scene(plane_backs="no")
