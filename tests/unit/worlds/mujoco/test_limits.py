"""What a model may ask for: as much as real ones do, and no more than its files account for."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.worlds.mujoco.files import files_of, load_model
from sensorium.worlds.mujoco.limits import Claims

mujoco = pytest.importorskip("mujoco")


def mjcf(asset="", body="", top=""):
    return f"<mujoco>{top}<asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>"


@pytest.mark.parametrize(
    "text",
    [
        mjcf(body='<replicate count="1000" offset=".1 0 0"><geom size="1"/></replicate>'),
        mjcf(body='<replicate count="9" offset="1 0 0"><replicate count="9"><geom size="1"/></replicate></replicate>'),
        mjcf('<hfield name="h" nrow="512" ncol="512" size="1 1 1 1"/>', '<geom type="hfield" hfield="h"/>'),
        mjcf('<texture name="sky" type="skybox" builtin="gradient" width="512" height="3072"/>'),
        mjcf(top='<size memory="64M" nuserdata="1000" nkey="2" nuser_body="3"/>'),
        mjcf(top='<size njmax="500" nconmax="-1" nstack="3000000"/>'),
    ],
)
def test_what_models_ask_for_is_given(text):
    load_model(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (mjcf(body='<replicate count="20000"><geom size="1"/></replicate>'), "makes 19999 copies of its elements"),
        (mjcf(body='<replicate count="1e30"><geom size="1"/></replicate>'), "makes 1e.18 copies"),
        (mjcf(body=f'<replicate count="{"9" * 50}"><geom size="1"/></replicate>'), "count of replicate is '9999"),
        (mjcf(body='<replicate count="nan"><geom size="1"/></replicate>'), "count of replicate is 'nan'"),
        (mjcf(body='<composite type="cable" count="20000 1 1"/>'), "makes 20000 copies"),
        (mjcf('<hfield name="h" nrow="5000" ncol="5000" size="1 1 1 1"/>'), "asks for 25000000 points"),
        (mjcf('<texture name="t" builtin="flat" width="5000" height="1"/>'), "asks for 150000000 points"),
        (mjcf('<mesh name="m" builtin="supersphere" params="9999 1 1"/>'), "asks for 99980001 points"),
        (mjcf(top='<size nuser_geom="1000000"/>'), "line 1: nuser_geom of size is '1000000'; a file may ask for 1000"),
        (mjcf(top='<size memory="1P"/>'), "memory of size is '1P'"),
        (mjcf(top='<actuator><general actdim="99999999"/></actuator>'), "asks for 99999999 points"),
    ],
)
def test_what_no_file_accounts_for_is_refused(text, says):
    with pytest.raises(SpecError, match=says):
        load_model(text)


def test_images_count_by_their_pixels_and_large_files_may_have_more(tmp_path):
    from PIL import Image

    (tmp_path / "m.xml").write_text(mjcf('<texture type="2d" name="t" file="t.png"/>'))
    Image.new("1", (5000, 5000)).save(tmp_path / "t.png")
    with pytest.raises(SpecError, match=r"asks for 25000000 points.*its files may ask for 1\d{7},"):
        files_of(tmp_path / "m.xml")
    noise = np.random.default_rng(0).integers(0, 2, (5000, 5000)).astype(bool)
    Image.fromarray(noise).save(tmp_path / "t.png")
    assert len(files_of(tmp_path / "m.xml")) == 2


def test_models_that_are_attached_count_as_often_as_they_are(tmp_path):
    inner = mjcf(body='<body name="b">' + 100 * '<geom size="1"/>' + "</body>")
    (tmp_path / "inner.xml").write_text(inner)

    def outer(times):
        attached = "".join(f'<attach model="inner" body="b" prefix="p{n}"/>' for n in range(times))
        path = tmp_path / "outer.xml"
        path.write_text(mjcf('<model name="inner" file="inner.xml"/>', attached))
        return path

    assert load_model(outer(20)).ngeom == 2000
    with pytest.raises(SpecError, match=r"makes \d+ copies"):
        load_model(outer(150))
    (tmp_path / "inner.xml").write_text(mjcf('<model name="inner" file="inner.xml"/>', '<attach model="inner"/>'))
    with pytest.raises(SpecError, match="makes inf copies"):
        load_model(outer(1))


def test_copies_in_copies_multiply():
    claims = Claims()
    within = claims.add("replicate", {"count": "3"}, 2)
    assert within == 6
    assert claims.add("geom", {}, within) == 6
    assert (claims.elements, claims.made) == (2, 8)
