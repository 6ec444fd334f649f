"""Data sheets of encoders."""

from typing import Annotated, Any, Literal

from sensorium.devices.sheet import Quantity, Rule, Sheet
from sensorium.devices.units import COUNTS, SPREAD


class EncoderSheet(Sheet):
    """A rotary encoder of one turn."""

    kind: Literal["encoder"] = "encoder"
    resolution: Annotated[Quantity, Rule("1", ("counts_per_turn",), COUNTS)]
    """Counts a turn; a period of the tracks A and B, which makers call pulse or cycle, has four."""
    tracks: Annotated[Quantity | None, Rule("", ("quadrature",))] = None
    """ "quadrature" for an incremental encoder with tracks A, B and an index, "none" for one that reads a position."""
    sample_rate: Annotated[Quantity | None, Rule("Hz", ("timing.rate_hz",))] = None
    noise: Annotated[Quantity | None, Rule("rad", ("noise.std",), SPREAD)] = None
    """Noise of the position before it is counted."""
    accuracy: Annotated[Quantity | None, Rule("rad")] = None
    """Largest error over a turn, which depends on how the one device is mounted: stated, and not modeled."""

    def specification(self) -> dict[str, Any]:
        """Fields of `Encoder`."""
        fields: dict[str, Any] = {"kind": "encoder", "counts_per_turn": round(self.number("resolution"))}
        if self.tracks is not None:
            fields["quadrature"] = self.word("tracks") == "quadrature"
        if (rate_hz := self.number("sample_rate")) is not None:
            fields["timing"] = {"rate_hz": rate_hz}
        if (std := self.number("noise")) is not None:
            fields["noise"] = {"std": std}
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        rules = self.rules()
        return tuple(field for name, rule in rules.items() if getattr(self, name) is None for field in rule.fills)
