"""Robots in URDF: packages are found, nothing is dropped, nothing outside is opened."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FACET = "facet normal 0 0 1\nouter loop\nvertex {}\nvertex {}\nvertex {}\nendloop\nendfacet\n"
FLAT_STL = f"solid s\n{FACET.format('0 0 0', '1 0 0', '0 1 0')}{FACET.format('1 0 0', '1 1 0', '0 1 0')}endsolid s"
INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/></inertial>'
).format


def robot(mesh="package://arm_description/meshes/arm.obj", inertia="1", more=""):
    """An arm on a base, with a camera fixed on it."""
    geometry = f'<geometry><mesh filename="{mesh}"/></geometry>'
    return f"""<?xml version="1.0"?><robot name="r">
    <link name="base"><visual><geometry><box size="2 2 2"/></geometry></visual></link>
    <link name="arm">{INERTIAL(inertia)}<visual>{geometry}</visual>
      <collision><geometry><sphere radius="3"/></geometry></collision></link>
    <link name="camera"/>
    <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
    <joint name="fix" type="fixed"><origin xyz="0 0 2" rpy="0 0 0"/><parent link="arm"/><child link="camera"/></joint>
    {more}</robot>"""


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a package, as it is checked out, and something beside it."""
    package = tmp_path / "src" / "arm_description"
    (package / "meshes").mkdir(parents=True)
    (package / "urdf").mkdir()
    (package / "meshes" / "arm.obj").write_text(OBJ)
    (tmp_path / "secret.obj").write_text(OBJ)
    return tmp_path


def written(workspace, text=None, name="src/arm_description/urdf/arm.urdf"):
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(robot() if text is None else text)
    return path


def test_a_package_is_found_above_the_file(workspace):
    path = written(workspace)
    for folder in ("src", "src/arm_description"):
        assert sn.worlds.MuJoCo(path, folder=workspace / folder).model.nmesh == 1
    with pytest.raises(
        SpecError, match=r"arm\.urdf: filename of mesh is 'package://arm_.*', which is not found; .*folder="
    ):
        sn.worlds.MuJoCo(path)


def test_a_package_is_known_by_its_package_xml(workspace):
    package = (workspace / "src" / "arm_description").rename(workspace / "src" / "checkout")
    (package / "package.xml").write_text("<package><name> arm_description </name></package>")
    path = written(workspace, name="src/checkout/urdf/arm.urdf")
    assert sn.worlds.MuJoCo(path, folder=workspace / "src").model.nmesh == 1


def test_packages_are_given_by_a_map(workspace):
    path = written(workspace, name="elsewhere/arm.urdf")
    packages = {"arm_description": workspace / "src" / "arm_description"}
    assert sn.worlds.MuJoCo(path, packages=packages).model.nmesh == 1
    assert sn.worlds.MuJoCo(robot(), packages=packages).model.nmesh == 1
    assert sn.Environment.from_mujoco(path, packages=packages).world.model.nmesh == 1
    with pytest.raises(SpecError, match=r"packages\['arm_description'\] is .*; there is no such folder"):
        sn.worlds.MuJoCo(path, packages={"arm_description": workspace / "nowhere"})
    with pytest.raises(SpecError, match="packages is a list; it must be folders by names"):
        sn.worlds.MuJoCo(path, packages=["arm_description"])
    with pytest.raises(SpecError, match=r"packages\['arm_description'\] is 5; it must be the path of a folder"):
        sn.worlds.MuJoCo(path, packages={"arm_description": 5})
    with pytest.raises(SpecError, match="packages are given and the model is MJCF"):
        sn.worlds.MuJoCo("<mujoco/>", packages=packages)


@pytest.mark.parametrize(
    "mesh",
    [
        "package://arm_description/../../secret.obj",
        "package://../secret.obj",
        "../../../secret.obj",
        "file:///etc/passwd",
        "/etc/passwd",
    ],
)
def test_what_leaves_the_folder_is_refused(workspace, mesh):
    path = written(workspace, robot(mesh))
    for options in (
        {"folder": workspace / "src"},
        {"packages": {"arm_description": workspace / "src/arm_description"}},
    ):
        with pytest.raises(SpecError, match=r"arm\.urdf: filename of mesh is .*(leaves the folder|is not found)"):
            sn.worlds.MuJoCo(path, **options)


def test_fixed_links_are_bodies_to_mount_on_and_visual_meshes_are_seen(workspace):
    world = sn.worlds.MuJoCo(written(workspace), folder=workspace)
    assert world.body_names == ("base", "arm", "camera")
    assert world.joint_names == ("turn",)
    env = sn.Environment(world.scene(), world)
    gnss = env.attach(sn.Gnss(timing=sn.Timing(rate_hz=500.0)), body="camera")
    env.step()
    np.testing.assert_allclose(gnss.read().position, [0, 0, 2], atol=1e-6)

    # The sphere, for collisions, stands behind the mesh
    bounds = {item.label: item.mesh.vertices.max() for item in world.scene().objects}
    assert set(bounds) == {"base", "arm"}
    assert bounds["arm"] < 1.5
    with_sphere = world.scene(groups=range(6))
    assert len(with_sphere.objects) == 3


@pytest.mark.parametrize(("name", "content"), [("arm.obj", OBJ), ("flat.stl", FLAT_STL)])
def test_meshes_beside_the_file_and_flat_ones(workspace, name, content):
    path = written(workspace, robot(f"meshes/{name}"), "robot.urdf")
    (workspace / "meshes").mkdir()
    (workspace / "meshes" / name).write_text(content)
    assert sn.worlds.MuJoCo(path).model.nmesh == 1


def test_the_scale_of_a_mesh_counts(workspace):
    text = robot().replace('arm.obj"', 'arm.obj" scale="2 2 2"')
    model = sn.worlds.MuJoCo(written(workspace, text), folder=workspace).model
    plain = sn.worlds.MuJoCo(written(workspace), folder=workspace).model
    np.testing.assert_allclose(np.ptp(model.mesh_vert), 2 * np.ptp(plain.mesh_vert), rtol=1e-6)


@pytest.mark.parametrize("inertia", ["0", "-1e-9"])
def test_a_link_without_inertia_moves(workspace, inertia):
    world = sn.worlds.MuJoCo(written(workspace, robot(inertia=inertia)), folder=workspace)
    assert world.model.body("arm").inertia.min() >= 1e-9


def test_what_is_of_other_programs_is_passed_over(workspace):
    more = '<gazebo><plugin filename="lib.so"/></gazebo><transmission name="t"/>'
    more += '<material name="m"><texture filename="t.png"/></material>'
    assert sn.worlds.MuJoCo(written(workspace, robot(more=more)), folder=workspace).model.njnt == 1


def test_a_file_may_set_the_engine_s_compiler(workspace):
    more = '<mujoco><compiler fusestatic="true"/></mujoco>'
    world = sn.worlds.MuJoCo(written(workspace, robot(more=more)), folder=workspace)
    assert world.body_names == ("arm",)


def test_a_scenario_takes_a_robot_and_its_meshes(workspace):
    from sensorium.worlds.mujoco.files import files_of

    path = written(workspace)
    assert files_of(path, workspace) == [path, workspace / "src/arm_description/meshes/arm.obj"]


def test_the_text_of_a_urdf_file_is_kept(tmp_path):
    shape = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    text = f'<robot name="box"><link name="base">{shape}</link></robot>'
    (tmp_path / "box.urdf").write_text(text)
    assert sn.worlds.MuJoCo(tmp_path / "box.urdf").urdf == sn.worlds.MuJoCo(text).urdf == text
    assert sn.worlds.MuJoCo("<mujoco/>").urdf is None
