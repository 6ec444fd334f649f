"""Data sheets of radars."""

from typing import Annotated, Any, Literal

from sensorium.devices.sheet import Quantity, Rule, Sheet
from sensorium.devices.units import SPREAD


class RadarSheet(Sheet):
    """An FMCW radar, in one of its modes."""

    kind: Literal["radar"] = "radar"
    frequency: Annotated[Quantity, Rule("Hz", ("chirp.carrier_hz",))]
    bandwidth: Annotated[Quantity | None, Rule("Hz", ("chirp.bandwidth_hz",))] = None
    """Swept by a chirp; range cells are c / 2 B."""
    ramp: Annotated[Quantity | None, Rule("s", ("chirp.ramp_s",))] = None
    """Length of a chirp."""
    samples: Annotated[Quantity | None, Rule("1", ("chirp.samples",))] = None
    chirps: Annotated[Quantity | None, Rule("1", ("chirp.chirps",))] = None
    """Of a frame; speed cells are lambda / 2 N T."""
    cycle: Annotated[Quantity | None, Rule("s", ("timing.rate_hz",))] = None
    """From reading to reading."""
    max_range: Annotated[Quantity | None, Rule("m", ("max_range_m",))] = None
    min_range: Annotated[Quantity | None, Rule("m", ("min_range_m",))] = None
    horizontal_fov: Annotated[Quantity | None, Rule("deg", ("horizontal_fov_deg",))] = None
    vertical_fov: Annotated[Quantity | None, Rule("deg", ("vertical_fov_deg",))] = None
    antennas: Annotated[Quantity | None, Rule("1", ("antennas",))] = None
    """That azimuths come from."""
    elevation_antennas: Annotated[Quantity | None, Rule("1", ("elevation_antennas",))] = None
    """Rows of them, that elevations come from."""
    spacing: Annotated[Quantity | None, Rule("1", ("spacing",))] = None
    """From one to the next [wavelengths]."""
    transmit_gain: Annotated[Quantity | None, Rule("dBi", ("gain_dBi",))] = None
    receive_gain: Annotated[Quantity | None, Rule("dBi", ("gain_dBi",))] = None
    """By default that of the transmitter."""
    tracks: Annotated[Quantity | None, Rule("1", ("max_detections",))] = None
    """Most objects of a reading."""

    speed_noise: Annotated[Quantity | None, Rule("m/s", ("speed.noise.std",), SPREAD)] = None
    """Noise of range rates beyond what follows from signal and noise."""
    speed_quantum: Annotated[Quantity | None, Rule("m/s", ("speed.quantization.lsb",))] = None
    azimuth_noise: Annotated[Quantity | None, Rule("rad", ("azimuth.noise.std",), SPREAD)] = None
    """Noise of azimuths, likewise."""
    azimuth_quantum: Annotated[Quantity | None, Rule("rad", ("azimuth.quantization.lsb",))] = None

    # Stated only: a radar's errors follow from signal and noise
    range_accuracy: Annotated[Quantity | None, Rule("m")] = None
    speed_accuracy: Annotated[Quantity | None, Rule("m/s")] = None

    def specification(self) -> dict[str, Any]:
        """Fields of `Radar`."""
        chirp = {"carrier_hz": self.number("frequency")}
        for name, field in (("bandwidth", "bandwidth_hz"), ("ramp", "ramp_s")):
            if (number := self.number(name)) is not None:
                chirp[field] = number
        for name in ("samples", "chirps"):
            if (number := self.number(name)) is not None:
                chirp[name] = round(number)
        fields: dict[str, Any] = {"kind": "radar", "chirp": chirp}
        plain = {
            "max_range": "max_range_m",
            "min_range": "min_range_m",
            "horizontal_fov": "horizontal_fov_deg",
            "vertical_fov": "vertical_fov_deg",
            "spacing": "spacing",
        }
        fields |= {field: self.number(name) for name, field in plain.items() if self.number(name) is not None}
        counts = {"antennas": "antennas", "elevation_antennas": "elevation_antennas", "tracks": "max_detections"}
        for name, field in counts.items():
            if (number := self.number(name)) is not None:
                fields[field] = round(number)
        if (cycle_s := self.number("cycle")) is not None:
            fields["timing"] = {"rate_hz": 1.0 / cycle_s}
        for group in ("speed", "azimuth"):
            for part, error, field in (("noise", "noise", "std"), ("quantum", "quantization", "lsb")):
                if (number := self.number(f"{group}_{part}")) is not None:
                    fields.setdefault(group, {})[error] = {field: number}
        gains = [self.number(name) for name in ("transmit_gain", "receive_gain") if self.number(name) is not None]
        if gains:
            fields["gain_dBi"] = sum(gains) / len(gains)
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        filled = {field for _, _, rule in self.stated() for field in rule.fills}
        wanted = dict.fromkeys(field for rule in self.rules().values() for field in rule.fills)
        others = ("power_W", "noise_figure_dB", "cfar")
        return (*(field for field in wanted if field not in filled), *others)
