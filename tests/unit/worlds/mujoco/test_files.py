"""Models from untrusted files: nothing outside the model's folder is opened."""

import os

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.worlds.mujoco.files import load_model

TRIANGLES = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SECRET = '<mujoco><worldbody><geom name="secret" size="1"/></worldbody></mujoco>'


@pytest.fixture
def folder(tmp_path):
    """A model's folder, with something beside it that is none of its business."""
    model = tmp_path / "robot"
    (model / "parts").mkdir(parents=True)
    (tmp_path / "secret.xml").write_text(SECRET)
    (tmp_path / "secret.obj").write_text(TRIANGLES)
    (model / "parts" / "arm.obj").write_text(TRIANGLES)
    (model / "parts" / "arm.xml").write_text('<mujoco><worldbody><geom name="arm" size="1"/></worldbody></mujoco>')
    return model


def written(folder, inside, name="model.xml"):
    path = folder / name
    path.write_text(f"<mujoco>\n{inside}\n<worldbody/>\n</mujoco>")
    return path


def test_files_inside_are_read(folder):
    asset = '<asset><mesh name="m" file="arm.obj"/></asset>'
    path = written(folder, f'<compiler meshdir="parts"/>{asset}<include file="parts/arm.xml"/>')
    world = sn.worlds.MuJoCo(path)
    assert world.model.ngeom == world.model.nmesh == 1


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ('<include file="../secret.xml"/>', "file of include is '../secret.xml'"),
        ('<include file="/etc/passwd"/>', "file of include is '/etc/passwd'"),
        ('<include file="..\\secret.xml"/>', "file of include is '..\\\\secret.xml'"),
        ('<include file="parts/../../secret.xml"/>', "'parts/../../secret.xml'"),
        ('<asset><mesh file="../secret.obj"/></asset>', "file of mesh is '../secret.obj'"),
        ('<asset><hfield name="h" file="../h.png" size="1 1 1 1"/></asset>', "file of hfield"),
        ('<asset><texture type="cube" fileleft="../t.png"/></asset>', "fileleft of texture"),
        ('<compiler meshdir=".."/><asset><mesh file="secret.obj"/></asset>', "meshdir of compiler is '..'"),
        ('<compiler assetdir="parts"/><asset><mesh file="../../secret.obj"/></asset>', "'../../secret.obj'"),
        ('<asset><model name="m" file="../secret.xml"/></asset>', "file of model"),
    ],
)
def test_what_leaves_the_folder_is_refused_by_file_line_and_name(folder, inside, says):
    with pytest.raises(SpecError) as error:
        sn.worlds.MuJoCo(written(folder, inside))
    message = str(error.value)
    assert message.startswith("model.xml, line 2: ")
    assert says in message
    assert "leaves the folder" in message
    assert "\n" not in message


def test_a_reference_beyond_a_folder_may_come_back_within_the_model(folder):
    asset = '<asset><mesh name="m" file="../parts/arm.obj"/></asset>'
    assert sn.worlds.MuJoCo(written(folder, f'<compiler meshdir="parts"/>{asset}')).model.nmesh == 1


def test_a_name_that_is_found_beside_the_included_file_may_lead_out_of_nowhere(folder):
    """MuJoCo looks in the model's folder, finds nothing there, and takes the file beside the included one."""
    (folder / "parts" / "deep").mkdir()
    asset = '<mujoco><asset><mesh name="m" file="../arm.obj"/></asset></mujoco>'
    (folder / "parts" / "deep" / "assets.xml").write_text(asset)
    assert sn.worlds.MuJoCo(written(folder, '<include file="parts/deep/assets.xml"/>')).model.nmesh == 1

    # It would be taken if it were there
    (folder.parent / "arm.obj").write_text(TRIANGLES)
    with pytest.raises(SpecError, match="leaves the folder"):
        sn.worlds.MuJoCo(written(folder, '<include file="parts/deep/assets.xml"/>'))


def test_beside_an_included_file_the_engine_puts_no_folder_before_names(folder):
    """With meshdir the name stays inside, without it the engine would open what is outside."""
    (folder / "a" / "b").mkdir(parents=True)
    asset = '<mujoco><asset><mesh name="m" file="../../secret.obj"/></asset></mujoco>'
    (folder / "parts" / "assets.xml").write_text(asset)
    with pytest.raises(SpecError, match="leaves the folder"):
        sn.worlds.MuJoCo(written(folder, '<compiler meshdir="a/b"/><include file="parts/assets.xml"/>'))


def test_what_an_included_file_includes_is_looked_at_too(folder):
    written(folder, '<include file="../secret.xml"/>', "inner.xml")
    with pytest.raises(SpecError, match=r"inner\.xml, line 2: file of include is '\.\./secret\.xml'"):
        sn.worlds.MuJoCo(written(folder, '<include file="inner.xml"/>'))


def test_the_folders_of_an_included_file_count(folder):
    written(folder, '<compiler meshdir="parts/.."/>', "inner.xml")
    asset = '<asset><mesh name="m" file="../secret.obj"/></asset>'
    with pytest.raises(SpecError, match="file of mesh"):
        sn.worlds.MuJoCo(written(folder, f'{asset}<include file="inner.xml"/>'))


def test_a_link_that_leads_out_is_refused(folder):
    (folder / "link.xml").symlink_to(folder.parent / "secret.xml")
    with pytest.raises(SpecError, match=r"'link\.xml', which leaves the folder"):
        sn.worlds.MuJoCo(written(folder, '<include file="link.xml"/>'))


def test_a_folder_above_can_be_allowed(folder):
    path = written(folder, '<include file="../secret.xml"/>')
    assert sn.worlds.MuJoCo(path, folder=folder.parent).model.ngeom == 1
    with pytest.raises(SpecError, match=r"it must hold model\.xml"):
        sn.worlds.MuJoCo(path, folder=folder / "parts")
    with pytest.raises(SpecError, match="there is no such folder"):
        sn.worlds.MuJoCo(path, folder=folder / "nowhere")
    with pytest.raises(SpecError, match="model is a MjModel"):
        sn.worlds.MuJoCo(sn.worlds.MuJoCo(SECRET).model, folder=folder)


def test_text_stays_in_the_current_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    inside = '<mujoco><include file="parts/arm.xml"/></mujoco>'
    assert sn.worlds.MuJoCo(inside).model.ngeom == 1
    with pytest.raises(SpecError, match="the model, line 1: file of include"):
        sn.worlds.MuJoCo('<mujoco><include file="../secret.xml"/></mujoco>')


def test_urdf(folder):
    def urdf(name):
        path = folder / "robot.urdf"
        mesh = f'<geometry><mesh filename="{name}"/></geometry>'
        path.write_text(
            f'<robot name="r"><link name="l"><visual>{mesh}</visual><collision>{mesh}</collision></link></robot>'
        )
        return path

    (folder / "arm.obj").write_text(TRIANGLES)
    assert sn.worlds.MuJoCo(urdf("arm.obj")).model.nmesh == 1
    with pytest.raises(SpecError, match=r"filename of mesh is 'file:///etc/arm\.obj'"):
        sn.worlds.MuJoCo(urdf("file:///etc/arm.obj"))
    with pytest.raises(SpecError, match="which leaves the folder"):
        sn.worlds.MuJoCo(urdf("package://../arm.obj"))


@pytest.mark.parametrize("name", ["pipe", "sub", "zero"])
@pytest.mark.parametrize("text", ['<include file="{}"/>', '<asset><texture type="2d" file="{}"/></asset>'])
def test_what_is_there_and_is_no_file_is_not_opened(tmp_path, text, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sub").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "m.xml").write_text(f"<mujoco>{text.format(name)}</mujoco>")
    with pytest.raises(SpecError, match=rf"m\.xml, line 1: file of \w+ is '{name}', which (is no file|leaves)"):
        load_model(tmp_path / "m.xml")


def test_names_and_folders_without_end_are_refused(tmp_path):
    (tmp_path / "m.xml").write_text(f'<mujoco><include file="{"a/" * 3000}"/></mujoco>')
    with pytest.raises(SpecError, match="has 6000 characters; that is no file name"):
        load_model(tmp_path / "m.xml")
    many = "".join(f'<compiler meshdir="f{n}"/>' for n in range(100))
    (tmp_path / "m.xml").write_text(f"<mujoco>{many}</mujoco>")
    with pytest.raises(SpecError, match="meshdir is given more than 64 values"):
        load_model(tmp_path / "m.xml")


def test_what_is_no_xml_or_misses_a_file_is_one_line(folder):
    path = folder / "model.xml"
    path.write_text("not a model")
    with pytest.raises(SpecError, match=r"model\.xml is no XML"):
        sn.worlds.MuJoCo(path)
    with pytest.raises(SpecError, match=r"MuJoCo cannot read the model: .*gone\.obj") as error:
        sn.worlds.MuJoCo(written(folder, '<asset><mesh file="gone.obj"/></asset>'))
    assert "\n" not in str(error.value)


def test_what_two_readers_of_xml_may_take_differently_is_refused(folder):
    """MuJoCo's reader ends a DOCTYPE at the first ">", inside the entity: the include would be text to ours alone."""
    path = folder / "model.xml"
    inner = "<mujoco><include file='../secret.xml'/></mujoco>"
    path.write_text(f'<!DOCTYPE mujoco [<!ENTITY a "a>{inner}">]>\n<mujoco/>')
    with pytest.raises(SpecError, match=r"model\.xml, line 1: it has a DOCTYPE"):
        sn.worlds.MuJoCo(path)
