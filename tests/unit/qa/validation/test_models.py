"""What becomes of a folder of models: good ones, broken ones, and what is none."""

import pytest

from sensorium.qa.validation.models import main, models_in

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
BODY = "<worldbody><body name='a'><geom size='1'/></body></worldbody>"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "good.obj").write_text(TRIANGLE)
    (tmp_path / "deep" / "er" / "bad.obj").write_text("v 0 0 0\nf 1 1 9\n")
    (tmp_path / "robot.xml").write_text(f"<mujoco>{BODY}</mujoco>")
    (tmp_path / "broken.xml").write_text("<mujoco><nonsense/></mujoco>")
    (tmp_path / "other.xml").write_text("<launch/>")
    (tmp_path / "arm.urdf").write_text(
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
        "iyz='0'/></inertial><collision><geometry><box size='1 1 1'/></geometry></collision></link></robot>"
    )
    (tmp_path / "notes.txt").write_text("no model")
    return tmp_path


def test_every_model_is_told_with_what_it_holds_or_why_it_fails(folder, capsys):
    pytest.importorskip("mujoco")
    assert main([str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 + 3
    told = {line.split(": ")[0].split()[-1]: line for line in lines[:5]}
    assert told["deep/good.obj"] == "loads  mesh  deep/good.obj: 1 faces, no properties"
    assert told["deep/er/bad.obj"].startswith("fails  mesh  deep/er/bad.obj: face 0 is [0, 0, 8]")
    assert told["robot.xml"].startswith("loads  MJCF  robot.xml: 1 bodies, 1 objects")
    assert told["broken.xml"].startswith("fails  MJCF  broken.xml: ")
    assert told["arm.urdf"].startswith("loads  URDF")
    assert lines[5:] == ["MJCF: 1 of 2 load", "URDF: 1 of 1 load", "mesh: 1 of 2 load"]


def test_a_pattern_chooses_and_all_that_load_are_no_failure(folder, capsys):
    assert main([str(folder), "--only", "good*"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "mesh: 1 of 1 load"
    assert [path.name for path, _ in models_in(folder, "*.obj")] == ["bad.obj", "good.obj"]
    assert main([str(folder), "--only", "nothing"]) == 0
    assert "no models" in capsys.readouterr().out


def test_what_is_no_folder_is_refused(folder):
    with pytest.raises(SystemExit):
        main([str(folder / "notes.txt")])


def test_packages_of_robots_are_given_by_name(folder, tmp_path_factory, capsys):
    pytest.importorskip("mujoco")
    elsewhere = tmp_path_factory.mktemp("arms")
    (elsewhere / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    urdf = (folder / "arm.urdf").read_text()
    (folder / "arm.urdf").write_text(urdf.replace("<box size='1 1 1'/>", "<mesh filename='package://arms/part.obj'/>"))
    assert main([str(folder), "--only", "*.urdf"]) == 1
    assert main([str(folder), "--only", "*.urdf", "--package", f"arms={elsewhere}"]) == 0
    assert main([str(folder), "--only", "robot.xml", "--package", f"arms={elsewhere}"]) == 0  # of no matter to MJCF
    for bad in ("arms", "=x", "arms=", f"arms={elsewhere / 'part.obj'}"):
        with pytest.raises(SystemExit):
            main([str(folder), "--package", bad])
        assert "--package is" in capsys.readouterr().err
