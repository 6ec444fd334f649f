"""Objects that are volumes: filled with a medium, or bodies of glass. Their meshes must be closed and wound outward."""

import warnings

from sensorium.core.errors import SceneError
from sensorium.scene.mesh import Mesh

# A closed body is a pane where its mean thickness is less than this share of its length
_THIN = 0.05


def is_volume(material: object | None) -> bool:
    """Whether a material fills the volume of a mesh: a medium, or a dielectric."""
    if material is None:
        return False
    from sensorium.physics.materials.dielectric import Dielectric
    from sensorium.physics.media.base import AbstractMedium

    return isinstance(material, Dielectric | AbstractMedium)


def checked_boundary(mesh: Mesh, material: object | None, name: str | None, label: object | None) -> Mesh:
    """The mesh of an object, turned outward where it is the boundary of a volume.

    Args:
        mesh: As it was given.
        material: Of the object.
        name: Of the object, for errors; label: instead of a name.
    """
    volume = is_volume(material)
    if not volume and not _is_pane(material):
        return mesh

    known = name if name is not None else label
    who = "an object" if known is None else f"object {known!r}"
    if volume and mesh.one_sided is not None:
        what = f"{who} is a volume of {type(material).__name__}"
        raise SceneError(f"{what} and its mesh has one_sided faces; it must be there from both sides")

    # Here, not above: compiled functions and data models load slowly, and few objects are volumes
    from sensorium.scene.closed_meshes import closure
    from sensorium.scene.partition.part_files import WHOLE_FACE

    # A piece of a mesh that was cut was looked at as a whole
    if WHOLE_FACE in mesh.face_properties:
        return mesh
    found = closure(mesh)
    if not volume:
        if found.closed and found.thinness < _THIN:
            warnings.warn(
                f"{who} is of ThinGlass and its mesh is a thin closed body; light passes two panes there: one sheet of "
                "triangles is one pane, and a body with two faces is a Dielectric",
                stacklevel=5,
            )
        return mesh
    if found.closed:
        return found.outward
    what = f"{who} is a volume of {type(material).__name__}"
    if found.open_edges:
        why = f"its mesh is open at {found.open_edges} edges; it must be closed, as sn.shapes.box is"
    elif found.mixed_edges:
        why = f"faces of its mesh are wound against each other at {found.mixed_edges} edges; all must be wound outward"
    else:
        why = f"{found.flat} components of its mesh enclose nothing; each must have a volume"
    raise SceneError(f"{what} and {why}")


def _is_pane(material: object | None) -> bool:
    """Whether a material is a pane's."""
    if material is None:
        return False
    from sensorium.physics.materials.thin_glass import ThinGlass

    return isinstance(material, ThinGlass)
