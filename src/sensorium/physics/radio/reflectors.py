"""Bodies of known cross-section as data, for the objects of a scene."""

import abc
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict, Discriminator, Field, Tag

from sensorium.core.spec import Spec
from sensorium.physics.optics.checks import Array
from sensorium.physics.radio import cross_sections

Length = Annotated[float, Field(gt=0.0)]
"""[m]."""


class AbstractReflector(Spec, abc.ABC):
    """A body whose cross-section depends on where it is seen from."""

    model_config = ConfigDict(frozen=True)

    @abc.abstractmethod
    def cross_section(self, direction: ArrayLike, *, wavelength_m: float) -> Array:
        """Sigma [m^2] towards unit directions to the radar, in the object's frame, shape (*batch, 3)."""


class Sphere(AbstractReflector):
    """Pi a^2 from everywhere."""

    kind: Literal["sphere"] = "sphere"
    radius_m: Length
    """Radius [m]."""

    def cross_section(self, direction: ArrayLike, *, wavelength_m: float) -> Array:
        """Sigma [m^2]."""
        area = cross_sections.sphere(self.radius_m, wavelength_m=wavelength_m)
        return np.broadcast_to(area, np.shape(direction)[:-1]).copy()


class Plate(AbstractReflector):
    """A flat plate across the object's x axis."""

    kind: Literal["plate"] = "plate"
    width_m: Length
    """Along y [m]."""
    height_m: Length
    """Along z [m]."""

    def cross_section(self, direction: ArrayLike, *, wavelength_m: float) -> Array:
        """Sigma [m^2]."""
        return cross_sections.plate(self.width_m, self.height_m, direction, wavelength_m=wavelength_m)


class Cylinder(AbstractReflector):
    """A cylinder along the object's z axis."""

    kind: Literal["cylinder"] = "cylinder"
    radius_m: Length
    """Radius [m]."""
    length_m: Length
    """Length [m]."""

    def cross_section(self, direction: ArrayLike, *, wavelength_m: float) -> Array:
        """Sigma [m^2]."""
        return cross_sections.cylinder(self.radius_m, self.length_m, direction, wavelength_m=wavelength_m)


class Box(AbstractReflector):
    """A box of full sizes along the object's axes."""

    kind: Literal["box"] = "box"
    length_m: Length
    """Along x [m]."""
    width_m: Length
    """Along y [m]."""
    height_m: Length
    """Along z [m]."""

    def cross_section(self, direction: ArrayLike, *, wavelength_m: float) -> Array:
        """Sigma [m^2]."""
        return cross_sections.box(self.length_m, self.width_m, self.height_m, direction, wavelength_m=wavelength_m)


class Corner(AbstractReflector):
    """A corner reflector of three triangles that opens along the object's x axis."""

    kind: Literal["corner"] = "corner"
    edge_m: Length
    """Of the edges at the corner [m]."""

    def cross_section(self, direction: ArrayLike, *, wavelength_m: float) -> Array:
        """Sigma [m^2]."""
        return cross_sections.corner(self.edge_m, direction, wavelength_m=wavelength_m)


def _form(value: object) -> str:
    """Which way a cross-section is written."""
    return "reflector" if isinstance(value, (AbstractReflector, dict)) else "number"


Reflector = Annotated[Sphere | Plate | Cylinder | Box | Corner, Field(discriminator="kind")]
"""A body of known shape."""

CrossSection = Annotated[
    Annotated[float, Field(ge=0.0), Tag("number")] | Annotated[Reflector, Tag("reflector")], Discriminator(_form)
]
"""Square meters, the same from everywhere, or a body of known shape."""
