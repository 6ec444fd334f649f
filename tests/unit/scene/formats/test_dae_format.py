"""COLLADA files: triangles, polygons and strips where nodes put them."""

import time

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats.dae_format import read_dae

SQUARE = "0 0 0  1 0 0  1 1 0  0 1 0"
TRIANGLES = (
    '<triangles><input semantic="NORMAL" source="#n" offset="1"/><input semantic="VERTEX" source="#v" offset="0"/>'
)


def dae(primitive=f"{TRIANGLES}<p>0 9 1 9 2 9 0 9 2 9 3 9</p></triangles>", nodes=None, unit="1", head="", more=""):
    nodes = '<node><instance_geometry url="#g"/></node>' if nodes is None else nodes
    return f"""<?xml version="1.0"?>{head}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
    <asset><unit meter="{unit}"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="12">{SQUARE}</float_array></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{primitive}</mesh></geometry>
    </library_geometries>
    {more}<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


def corners(mesh):
    return mesh.vertices[mesh.faces]


def area(mesh):
    a, b, c = np.moveaxis(corners(mesh), 1, 0)
    return np.cross(b - a, c - a).sum(axis=0) / 2


def plain(kind, points, counts=""):
    return f'<{kind}><input semantic="VERTEX" source="#v" offset="0"/>{counts}<p>{points}</p></{kind}>'


@pytest.mark.parametrize(
    "primitive",
    [
        plain("triangles", "0 1 2 0 2 3"),
        plain("polylist", "0 1 2 3", "<vcount>4</vcount>"),
        plain("polylist", "0 1 2 0 2 3", "<vcount>3 3</vcount>"),
        plain("polygons", "0 1 2 3"),
        plain("trifans", "0 1 2 3"),
        plain("tristrips", "3 0 2 1"),
        plain("triangles", "0 1 2") + plain("polylist", "0 2 3", "<vcount>3</vcount>"),
    ],
)
def test_a_square_faces_up_whatever_it_is_made_of(primitive):
    mesh = read_dae(dae(primitive), "square.dae")
    assert len(mesh.faces) == 2
    np.testing.assert_allclose(area(mesh), [0, 0, 1])


def test_other_inputs_beside_the_vertices_and_the_unit():
    np.testing.assert_allclose(area(read_dae(dae(unit="0.01"), "x")), [0, 0, 1e-4])


def test_poses_of_nodes_are_composed():
    inner = '<node><scale>2 2 2</scale><instance_geometry url="#g"/></node>'
    nodes = f"<node><translate>1 0 0</translate><rotate>1 0 0 90</rotate>{inner}</node>"
    mesh = read_dae(dae(nodes=nodes), "x")
    np.testing.assert_allclose(area(mesh), [0, -4, 0], atol=1e-12)
    np.testing.assert_allclose(
        [mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)], [[1, 0, 0], [3, 0, 2]], atol=1e-12
    )
    again = "<node><matrix>1 0 0 1  0 0 -1 0  0 1 0 0  0 0 0 1</matrix>" + inner + "</node>"
    np.testing.assert_allclose(corners(read_dae(dae(nodes=again), "x")), corners(mesh), atol=1e-12)


def test_a_mirrored_node_keeps_its_outside():
    nodes = '<node><scale>1 1 -1</scale><instance_geometry url="#g"/></node>'
    np.testing.assert_allclose(area(read_dae(dae(nodes=nodes), "x")), [0, 0, -1])


def test_nodes_that_are_used_again():
    more = '<library_nodes><node id="n"><instance_geometry url="#g"/></node></library_nodes>'
    nodes = '<node><instance_node url="#n"/><node><translate>5 0 0</translate><instance_node url="#n"/></node></node>'
    assert len(read_dae(dae(nodes=nodes, more=more), "x").faces) == 4


def test_few_bytes_do_not_become_many():
    """Nodes that use the one before ten times each, and a node that uses itself."""
    chain = "".join(f'<node id="n{k + 1}">' + f'<instance_node url="#n{k}"/>' * 10 + "</node>" for k in range(30))
    more = f'<library_nodes><node id="n0"><instance_geometry url="#g"/></node>{chain}</library_nodes>'
    begin = time.process_time()
    for nodes, library in (
        ('<node><instance_node url="#n30"/></node>', more),
        ('<node id="me"><instance_node url="#me"/></node>', ""),
    ):
        with pytest.raises(SceneError, match=r"x: it cannot be read as \.dae: .*(too often|deep)"):
            read_dae(dae(nodes=nodes, more=library), "x")
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"no xml", "it is no XML"),
        (dae(head='<!DOCTYPE x [<!ENTITY a "b">]>'), "it has a DOCTYPE"),
        (dae(plain("triangles", "0 1 7")), "a face has vertex 7 of 4"),
        (dae(plain("triangles", "0 1")), "cannot reshape"),
        (dae(""), "it has no triangles"),
        (dae(nodes='<node><instance_geometry url="#gone"/></node>'), "KeyError"),
        (dae().replace(b"1 1 0", b"1 nan 0"), "not finite"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_file(data, says):
    with pytest.raises(SceneError, match=f"odd.dae: .*{says}") as error:
        read_dae(data, "odd.dae")
    assert "\n" not in str(error.value)
