"""Names, units and titles of the quantities in a sampled sensor's reading, for tables, plots and viewers."""

from dataclasses import dataclass

XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class Quantity:
    """One quantity of a reading.

    Attributes:
        name: The reading's attribute.
        title: Heading.
        unit: Its unit, as text; "1" for none.
        components: Names of its components; one without a name for a single number.
        kind: float, int or bool.
        has_truth: Whether the truth has another.
        is_plotted: Whether it is plotted over time; derived quantities are not.
        is_inertial: Whether its errors are described by an Allan deviation.
        column: Name of its columns in a table; None is the attribute's name.
    """

    name: str
    title: str
    unit: str = "1"
    components: tuple[str, ...] = ("",)
    kind: type = float
    has_truth: bool = True
    is_plotted: bool = True
    is_inertial: bool = False
    column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each component in a table, with its unit: acceleration_x_m_s2.

        A unit that the name has already is not said twice; one that depends on the joint, "rad or m", is not said.
        """
        unit = "" if self.unit == "1" or " or " in self.unit else self.unit.replace("/", "_").replace("²", "2")
        name = self.column or self.name
        stem = name.removesuffix(f"_{unit}") if unit else name
        places = (component.replace(" ", "_") for component in self.components)
        return tuple("_".join(part for part in (stem, place, unit) if part) for place in places)
