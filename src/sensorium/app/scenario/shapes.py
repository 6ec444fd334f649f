"""Shapes by kind, with the parameters of the functions in `sn.shapes`."""

from typing import Annotated, Literal

from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.scene import shapes, trees
from sensorium.scene.mesh import Mesh

Length = Annotated[float, Field(gt=0.0)]
"""A size [m]."""


class ShapeSpec(Spec):
    """A shape to be made by the function of `sn.shapes` that its kind names, from its other fields."""

    kind: str

    def make(self) -> Mesh:
        """Its triangles."""
        mesh: Mesh = getattr(shapes, self.kind)(**{name: value for name, value in self if name != "kind"})
        return mesh


class Box(ShapeSpec):
    """A box about its middle, by its full sizes [m]."""

    kind: Literal["box"]
    x: Length
    """Size along x [m]."""
    y: Length
    """Size along y [m]."""
    z: Length
    """Size along z [m]."""


class Sphere(ShapeSpec):
    """A sphere about its middle."""

    kind: Literal["sphere"]
    radius: Length
    """Of its vertices [m]; face centers are slightly inside."""
    subdivisions: int = 4
    """Number of subdivisions of the 20 faces of an icosahedron, 0 to 9."""


class Ellipsoid(ShapeSpec):
    """An ellipsoid about its middle, by its half axes [m]."""

    kind: Literal["ellipsoid"]
    rx: Length
    """Half its size along x [m]."""
    ry: Length
    """Half its size along y [m]."""
    rz: Length
    """Half its size along z [m]."""
    subdivisions: int = 4
    """Number of subdivisions of the 20 faces of an icosahedron, 0 to 9."""


class Cylinder(ShapeSpec):
    """A cylinder along z about its middle."""

    kind: Literal["cylinder"]
    radius: Length
    """Of its vertices [m]; face centers are slightly inside."""
    height: Length
    """From end to end, along z [m]."""
    segments: int = 64
    """Number of faces around it."""


class Capsule(ShapeSpec):
    """A cylinder along z with half spheres at its ends, about its middle; `length` is the cylinder's."""

    kind: Literal["capsule"]
    radius: Length
    """Of the cylinder and of its ends [m]."""
    length: Length
    """Of the cylinder, without its ends [m]."""
    segments: int = 64
    """Number of faces around it."""


class Plane(ShapeSpec):
    """A rectangle in the x y plane about its middle, seen from both sides; without size_y a square."""

    kind: Literal["plane"]
    size: Length
    """Along x [m]."""
    size_y: Length | None = None
    """Along y [m]; by default as along x."""


class Heightfield(ShapeSpec):
    """A surface z over an even grid about its middle; heights[i][j] is at the i-th x and j-th y."""

    kind: Literal["heightfield"]
    heights: tuple[tuple[float, ...], ...]
    """Of the points of the grid, in rows of one x each [m]."""
    size_x: Length
    """Of the whole along x [m]."""
    size_y: Length
    """Of the whole along y [m]."""


class Tree(ShapeSpec):
    """A tree with its foot at the origin; its faces are labeled trunk and leaves."""

    kind: Literal["tree"]
    height: Length
    """From the ground to its top [m]."""
    form: Literal["broadleaf", "bare", "conifer"] = "broadleaf"
    """Kind of tree; a bare one is a broadleaf without leaves."""
    seed: int = 0
    """Which tree."""

    def make(self) -> Mesh:
        """Its triangles."""
        if self.form == "conifer":
            return trees.conifer(self.height, seed=self.seed)
        return trees.broadleaf(self.height, seed=self.seed, leaves=self.form == "broadleaf")


Shape = Annotated[
    Box | Sphere | Ellipsoid | Cylinder | Capsule | Plane | Heightfield | Tree, Field(discriminator="kind")
]
"""Any shape, selected by its `kind`."""
