"""The sum of several magnetic fields, and the union of all kinds."""

from typing import Annotated, Any, Literal

from numpy.typing import ArrayLike
from pydantic import Field, field_validator

from sensorium.core.rotations import Float
from sensorium.core.spec import positional_init
from sensorium.physics.fields.magnetic import AbstractMagnetic, MagneticDipole, UniformMagnetic
from sensorium.physics.fields.world_magnetic_model import WorldMagneticModel


class MagneticSum(AbstractMagnetic):
    """The sum of its sources, such as the Earth and two motors: `MagneticSum((earth, left, right))`."""

    kind: Literal["sum"] = "sum"
    sources: tuple["Magnetic", ...]
    """The fields that are added, at least one."""

    @positional_init
    def __init__(self, sources: Any = None, **fields: Any) -> None:
        super().__init__(**fields if sources is None else {"sources": sources, **fields})

    @field_validator("sources")
    @classmethod
    def _check_sources(cls, sources: tuple[AbstractMagnetic, ...]) -> tuple[AbstractMagnetic, ...]:
        if not sources:
            raise ValueError("sources is (); it must hold at least one field")
        return sources

    def at(self, p_W: ArrayLike, time_ns: ArrayLike = 0) -> Float:
        """Magnetic flux density B_W in world axes [T], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world, none that of a source [m], shape (*batch, 3).
            time_ns: Time since the start of the world [ns], one for all or of a shape that broadcasts to batch.
        """
        B_W = self.sources[0].at(p_W, time_ns)
        for source in self.sources[1:]:
            B_W += source.at(p_W, time_ns)
        return B_W


Magnetic = Annotated[UniformMagnetic | MagneticDipole | MagneticSum | WorldMagneticModel, Field(discriminator="kind")]
"""Any magnetic field, selected by its `kind` when read from a plain dictionary."""

MagneticSum.model_rebuild()
