"""COLLADA meshes, as robots in URDF have them."""

from pathlib import Path

from fuzz.reader import Reader, must_be_finite
from sensorium.core.errors import SceneError
from sensorium.scene.formats.dae_format import read_dae


def _read(path: Path) -> None:
    mesh = read_dae(path.read_bytes(), path.name)
    must_be_finite(vertices=mesh.vertices)
    assert mesh.faces.min() >= 0
    assert mesh.faces.max() < len(mesh.vertices)


def _dae(folder: Path) -> list[bytes]:
    corner = '<input semantic="VERTEX" source="#v" offset="0"/>'
    head = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.1"/></asset>
    <library_geometries><geometry id="g"><mesh><source id="p"><float_array>0 0 0 1 0 0 1 1 0 0 1 0</float_array>
    <technique_common><accessor stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>"""
    tail = """</mesh></geometry></library_geometries>
    <library_nodes><node id="n"><instance_geometry url="#g"/></node></library_nodes><library_visual_scenes>
    <visual_scene id="s"><node><rotate>0 0 1 90</rotate><translate>1 2 3</translate><instance_node url="#n"/>
    <node><scale>1 1 -1</scale><instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
    primitives = (
        f"<triangles>{corner}<p>0 1 2 0 2 3</p></triangles>",
        f"<polylist>{corner}<vcount>4</vcount><p>0 1 2 3</p></polylist>",
        f"<tristrips>{corner}<p>3 0 2 1</p></tristrips>",
    )
    return [(head + primitive + tail).encode() for primitive in primitives]


_WORDS = (b"<node>", b"</node>", b'<instance_node url="#n"/>', b'<instance_geometry url="#g"/>', b"1e308", b"nan")

_MODULES = ("sensorium.scene.formats.dae_format",)
READERS = [Reader("robot-dae", ".dae", _read, (SceneError,), _dae, _MODULES, words=_WORDS)]
