"""Data sheets of lidars."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import model_validator

from sensorium.devices.sheet import Quantity, Rule, Sheet
from sensorium.devices.units import DIVERGENCE, SENSE, SPREAD, WIDTH

_ORIGIN = "pattern.origin_offset_m"
_OFFSET = {"along z": 1.0, "across the beam": 1.0}

# Reflectances that makers state ranges for
_REFLECTANCE = {
    "range_5_percent": 0.05,
    "range_10_percent": 0.1,
    "range_80_percent": 0.8,
    "range_90_percent": 0.9,
}

# Fields that act without light
_WITHOUT_LIGHT = ("kind", "mode", "pattern", "timing", "min_range_m", "max_range_m", "noise", "errors")

# Parts of the noise that need relative intensities
_BY_LIGHT = ("by_signal", "by_reflectance")

# Fields of the noise that one value each decides
_NOISE = {
    "base_m": "range_noise",
    "slope": "range_noise_slope",
    "square_per_m": "range_noise_square",
    "angle_std_rad": "angle_noise",
    "excess_kurtosis": "excess_kurtosis",
    "dropout": "dropout",
    "channel_bias_m": "channel_bias",
    "channel_bias_std_m": "channel_bias_spread",
}

# Values that belong together
_TABLES = {"noise_by_range": "noise_ranges", "noise_by_reflectance": "noise_reflectances"}
_TOGETHER = (*_TABLES.items(), ("pulse_times", "pulse_shape"), ("signal_noise", "signal_reflectance", "signal_range"))

# Values that no data sheet gives
_NEVER_TOLD = ("beam.detector_radius_m", "receiver")


class LidarSheet(Sheet):
    """A lidar: a head that spins, or prisms that do.

    Its specification follows the light (`mode="relative"`), so that noise, divergence and returns count.
    """

    kind: Literal["lidar"] = "lidar"
    scan: Literal["spinning", "rosette", "single"]
    """Scan pattern; "single" is one beam ahead."""

    # A head that spins; lists have one entry for each channel, in firing order where there is one
    elevation: Annotated[Quantity | None, Rule("deg", ("pattern.elevation_deg",))] = None
    azimuth_offset: Annotated[Quantity | None, Rule("deg", ("pattern.azimuth_offset_deg",), SENSE)] = None
    channel_time: Annotated[Quantity | None, Rule("s", ("pattern.time_offset_s",))] = None
    """When each channel fires, counted from anywhere."""
    rotation_rate: Annotated[Quantity | None, Rule("Hz", ("pattern.rate_hz",))] = None
    """Of the mode that the sheet describes."""
    firing_period: Annotated[Quantity | None, Rule("s", ("pattern.columns",))] = None
    """Time from firing to firing of one channel; a sweep has as many columns as fit best."""
    columns: Annotated[Quantity | None, Rule("1", ("pattern.columns",))] = None
    """Instead of a firing period."""
    step: Annotated[Quantity | None, Rule("deg", ("pattern.columns",))] = None
    """Azimuth from column to column, of a device that fires by angle."""
    horizontal_fov: Annotated[Quantity | None, Rule("deg", ("pattern.azimuth_min_deg", "pattern.azimuth_max_deg"))] = (
        None
    )
    """Of a head that spins, less than 360 makes a sector around x; for prisms it is only stated."""
    direction: Annotated[Quantity | None, Rule("", ("pattern.direction",))] = None
    """ "clockwise" or "counterclockwise", seen from above."""
    beam_origin: Annotated[Quantity | None, Rule("m", (_ORIGIN,))] = None
    """Distance of the beams' start from the axis, towards the head's own azimuth."""
    vertical_offset: Annotated[Quantity | None, Rule("m", (_ORIGIN,), _OFFSET)] = None
    """Height of each beam's start, along z or perpendicular to the beam."""
    horizontal_offset: Annotated[Quantity | None, Rule("m", (_ORIGIN,))] = None
    """Offset of each beam to the left of the axis."""

    # Rotating prisms; lists have one entry for each prism, in the order of the light path
    prism_wedge: Annotated[Quantity | None, Rule("deg", ("pattern.prisms",))] = None
    """Positive if light enters the tilted face first."""
    prism_index: Annotated[Quantity | None, Rule("1", ("pattern.prisms",))] = None
    prism_speed: Annotated[Quantity | None, Rule("Hz", ("pattern.prisms",))] = None
    prism_phase: Annotated[Quantity | None, Rule("deg", ("pattern.prisms",))] = None
    laser_tilt: Annotated[Quantity | None, Rule("1", ("pattern.beams_yz",))] = None
    """Upward component of each laser's direction before the prisms."""
    laser_rate: Annotated[Quantity | None, Rule("Hz", ("pattern.point_rate_hz",))] = None
    """Shots of each laser."""
    frame_rate: Annotated[Quantity | None, Rule("Hz", ("pattern.rate_hz",))] = None
    first_shot: Annotated[Quantity | None, Rule("s", ("pattern.first_shot_s",))] = None
    """Rotor time of the first shot."""

    # Range and accuracy
    min_range: Annotated[Quantity | None, Rule("m", ("min_range_m",))] = None
    max_range: Annotated[Quantity | None, Rule("m", ("max_range_m",))] = None
    range_5_percent: Annotated[Quantity | None, Rule("m", ("detection",))] = None
    """Range to a diffuse target of 5 % that is detected so often; of several the darkest and the brightest count."""
    range_10_percent: Annotated[Quantity | None, Rule("m", ("detection",))] = None
    range_80_percent: Annotated[Quantity | None, Rule("m", ("detection",))] = None
    range_90_percent: Annotated[Quantity | None, Rule("m", ("detection",))] = None
    detection_probability: Annotated[Quantity | None, Rule("1", ("detection.probability",))] = None
    """Probability of detection at these ranges."""
    range_quantum: Annotated[Quantity | None, Rule("m", ("errors",))] = None
    range_noise: Annotated[Quantity | None, Rule("m", ("noise.base_m",), SPREAD)] = None
    """Precision: part of the noise that is the same at every range."""
    range_noise_slope: Annotated[Quantity | None, Rule("1", ("noise.slope",), SPREAD)] = None
    """Precision: part that grows with range."""
    range_noise_square: Annotated[Quantity | None, Rule("1/m", ("noise.square_per_m",), SPREAD)] = None
    """Precision: part that grows with the square of range."""
    noise_ranges: Annotated[Quantity | None, Rule("m", ("noise.by_range",))] = None
    """Ranges, rising, for which `noise_by_range` has an entry each."""
    noise_by_range: Annotated[Quantity | None, Rule("1", ("noise.by_range",))] = None
    """Noise at such ranges over that of the values above."""
    noise_reflectances: Annotated[Quantity | None, Rule("1", ("noise.by_reflectance",))] = None
    """Reflectances of targets, rising, for which `noise_by_reflectance` has an entry each."""
    noise_by_reflectance: Annotated[Quantity | None, Rule("1", ("noise.by_reflectance",))] = None
    """Noise on such targets over that of the values above."""
    signal_noise: Annotated[Quantity | None, Rule("m", ("noise.by_signal",), SPREAD)] = None
    """Part of the noise that falls with the root of the signal, on the target that the next two values describe."""
    signal_reflectance: Annotated[Quantity | None, Rule("1", ("noise.by_signal",))] = None
    """Diffuse reflectance of that target."""
    signal_range: Annotated[Quantity | None, Rule("m", ("noise.by_signal",))] = None
    """Range of that target."""
    excess_kurtosis: Annotated[Quantity | None, Rule("1", ("noise.excess_kurtosis",))] = None
    """Kurtosis of the noise less that of a normal law."""
    channel_bias: Annotated[Quantity | None, Rule("m", ("noise.channel_bias_m",))] = None
    """Bias of each channel of one unit."""
    channel_bias_spread: Annotated[Quantity | None, Rule("m", ("noise.channel_bias_std_m",), SPREAD)] = None
    """Spread of the biases of channels, for units of the type."""
    dropout: Annotated[Quantity | None, Rule("1", ("noise.dropout",))] = None
    """Share of rays without a return on surfaces that return others."""
    column_jitter: Annotated[Quantity | None, Rule("s", ("timing.jitter_s",), SPREAD)] = None
    """Spread of the firing time of columns about even times."""
    return_separation: Annotated[Quantity | None, Rule("m", ("beam.separation_m",))] = None
    """Least separation of two returns of a shot; it acts on beams of several rays."""
    range_accuracy: Annotated[Quantity | None, Rule("m", (), SPREAD)] = None
    """Error of every cause, biases of channels and units included. Stated only: it is no noise of a shot."""
    angle_noise: Annotated[Quantity | None, Rule("rad", ("noise.angle_std_rad",), SPREAD)] = None
    wavelength: Annotated[Quantity | None, Rule("m", ("beam.wavelength_m",))] = None
    divergence: Annotated[Quantity | None, Rule("rad", ("beam.half_divergence_rad",), DIVERGENCE)] = None
    """One, or along the horizon and across it."""
    exit_size: Annotated[Quantity | None, Rule("m", ("beam.exit_radius_m",), WIDTH)] = None
    pulse: Annotated[Quantity | None, Rule("s", ("beam.pulse_s",))] = None
    pulse_times: Annotated[Quantity | None, Rule("s", ("waveform.pulse",))] = None
    """Times from the peak, rising, for which `pulse_shape` has an entry each."""
    pulse_shape: Annotated[Quantity | None, Rule("1", ("waveform.pulse",))] = None
    """Share of the peak at such times, of the pulse as received; with it, whole waveforms are simulated."""
    sample_spacing: Annotated[Quantity | None, Rule("s", ("waveform.resolution_s",))] = None
    """Between samples of a waveform."""
    reflectivity_bits: Annotated[Quantity | None, Rule("1", ("intensity",))] = None
    """Width of an intensity that is calibrated reflectivity."""

    # Stated, and measured in the round trip
    points_per_second: Annotated[Quantity | None, Rule("Hz")] = None
    vertical_fov: Annotated[Quantity | None, Rule("deg")] = None
    azimuth_step: Annotated[Quantity | None, Rule("deg")] = None
    elevation_step: Annotated[Quantity | None, Rule("deg")] = None
    """Smallest between neighboring channels."""
    returns: Annotated[Quantity | None, Rule("1")] = None
    """Most returns per pulse; by default the model reports the strongest."""

    @model_validator(mode="after")
    def _enough_for_a_pattern(self) -> "LidarSheet":
        needed = {
            "spinning": ("elevation", "rotation_rate"),
            "rosette": ("prism_wedge", "prism_index", "prism_speed", "laser_rate", "frame_rate"),
            "single": ("frame_rate",),
        }
        for name in needed[self.scan]:
            if getattr(self, name) is None:
                raise ValueError(f"{name} is missing; scan {self.scan!r} cannot do without")
        for names in _TOGETHER:
            missing = [name for name in names if getattr(self, name) is None]
            if missing and len(missing) < len(names):
                raise ValueError(f"{missing[0]} is missing; {', '.join(names)} must be given together")
        for factor, place in (*_TABLES.items(), ("pulse_shape", "pulse_times")):
            factors, places = (len(_several(self.number(name) or ())) for name in (factor, place))
            if factors != places:
                raise ValueError(f"{factor} has {factors} entries; it needs one per entry of {place}, {places}")
        if self.scan == "spinning":
            given = [name for name in ("firing_period", "columns", "step") if getattr(self, name) is not None]
            if len(given) != 1:
                raise ValueError(
                    f"{' and '.join(given) or 'nothing'} is given; one of firing_period, columns and step must be"
                )
        return self

    def specification(self) -> dict[str, Any]:
        """Fields of `Lidar`."""
        fields: dict[str, Any] = {"kind": "lidar", "mode": "relative" if self.pulse_shape is None else "waveform"}
        fields["pattern"] = {"spinning": self._spinning, "rosette": self._rosette, "single": self._single}[self.scan]()
        for name, field in (("min_range", "min_range_m"), ("max_range", "max_range_m")):
            if (number := self.number(name)) is not None:
                fields[field] = number
        if (quantum_m := self.number("range_quantum")) is not None:
            fields["errors"] = [{"kind": "quantize", "lsb": quantum_m}]
        if (bits := self.number("reflectivity_bits")) is not None:
            fields["intensity"] = {"kind": "reflectivity", "bits": round(bits)}
        if (jitter_s := self.number("column_jitter")) is not None:
            fields["timing"] = {"jitter_s": jitter_s}
        parts = {"noise": self._noise, "beam": self._beam, "detection": self._detection, "waveform": self._waveform}
        for part, values in parts.items():
            if found := values():
                fields[part] = found
        return fields

    def suited(self, fields: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Fields without those that the chosen mode does not use, which a lidar would refuse."""
        mode, unused = overrides.get("mode", fields["mode"]), {"noise": set[str](), "beam": set[str]()}
        if mode == "geometric":
            fields = {name: value for name, value in fields.items() if name in _WITHOUT_LIGHT}
        if mode != "relative":
            unused["noise"].update(_BY_LIGHT)
        if overrides.get("publish") == "slices":
            unused["noise"].update(("channel_bias_m", "channel_bias_std_m"))
        if overrides.get("motion") == "snapshot" or overrides.get("crosstalk") is not None:
            fields = {name: value for name, value in fields.items() if name != "timing"}
        beam = overrides.get("beam", {})
        if not isinstance(beam, Mapping) or beam.get("rays", 1) == 1:
            unused["beam"].update(("separation_m", "exit_radius_m") if mode == "radiometric" else ("separation_m",))
        if mode == "waveform":
            unused["beam"].add("separation_m")
        else:
            fields = {name: value for name, value in fields.items() if name != "waveform"}
        for part in unused.keys() & fields.keys():
            kept = {name: value for name, value in fields[part].items() if name not in unused[part]}
            fields = fields | {part: kept}
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        filled = {field for _, _, rule in self.stated() for field in rule.fills}
        other = {"spinning": _ROSETTE, "rosette": _SPINNING, "single": _SPINNING + _ROSETTE}[self.scan]
        wanted = dict.fromkeys(
            field
            for name, rule in self.rules().items()
            if name not in other
            and name != "horizontal_fov"  # a full turn, or the field of prisms
            and (name != "detection_probability" or self.detection_ranges())
            for field in rule.fills
        )
        return (*(field for field in wanted if field not in filled), *_NEVER_TOLD)

    def _noise(self) -> dict[str, Any]:
        """Precision where it is known, and fixed biases; the accuracy of a sheet tells neither."""
        fields: dict[str, Any] = {name: self.number(value) for name, value in _NOISE.items()}
        for factor, place in _TABLES.items():
            if getattr(self, factor) is not None:
                pairs = zip(_several(self.number(place)), _several(self.number(factor)), strict=True)
                fields[factor.removeprefix("noise_")] = tuple(pairs)
        if self.signal_noise is not None:
            names = {"std_m": "signal_noise", "reflectance": "signal_reflectance", "range_m": "signal_range"}
            fields["by_signal"] = {name: self.number(value) for name, value in names.items()}
        if fields["channel_bias_m"] is not None:
            fields["channel_bias_m"] = _several(fields["channel_bias_m"])
        return {name: number for name, number in fields.items() if number is not None}

    def detection_ranges(self) -> dict[str, float]:
        """Names of the stated ranges to diffuse targets, darkest first, with the targets' reflectances [1]."""
        return {name: rho for name, rho in _REFLECTANCE.items() if getattr(self, name) is not None}

    def _detection(self) -> dict[str, Any]:
        """The darkest stated target, and the brightest."""
        probability = self.number("detection_probability")
        often = {} if probability is None else {"probability": probability}
        stated = [
            {"reflectance": rho, "range_m": self.number(name), **often} for name, rho in self.detection_ranges().items()
        ]
        if len(stated) < 2:
            return stated[0] if stated else {}
        return {**stated[0], "second": stated[-1]}

    def _beam(self) -> dict[str, Any]:
        fields = {
            "wavelength_m": self.number("wavelength"),
            "half_divergence_rad": self.number("divergence"),
            "exit_radius_m": self.number("exit_size"),
            "pulse_s": self.number("pulse"),
            "separation_m": self.number("return_separation"),
        }
        return {name: number for name, number in fields.items() if number is not None}

    def _waveform(self) -> dict[str, Any]:
        """The shape of the pulse, and how it is sampled."""
        fields: dict[str, Any] = {}
        if self.pulse_shape is not None:
            shape = {"time_s": self.number("pulse_times"), "value": self.number("pulse_shape")}
            fields["pulse"] = {"kind": "table", **shape}
        if (spacing_s := self.number("sample_spacing")) is not None:
            fields["resolution_s"] = spacing_s
        return fields

    def _single(self) -> dict[str, Any]:
        """Fields of a table of one ray."""
        ray = {name: (0.0,) for name in ("azimuth_deg", "elevation_deg", "time_s")}
        return {"kind": "table", **ray, "rate_hz": self.number("frame_rate")}

    def _spinning(self) -> dict[str, Any]:
        """Fields of a spinning pattern."""
        rate_hz, elevation_deg = self.number("rotation_rate"), _several(self.number("elevation"))
        fields: dict[str, Any] = {"kind": "spinning", "elevation_deg": elevation_deg, "rate_hz": rate_hz}
        fov_deg = self.number("horizontal_fov")
        if fov_deg is not None and fov_deg < 360.0:
            fields |= {"azimuth_min_deg": -0.5 * fov_deg, "azimuth_max_deg": 0.5 * fov_deg}
        fields["columns"] = self._columns(rate_hz, fov_deg)
        if self.direction is not None:
            fields["direction"] = self.word("direction")
        if (offset_deg := self.number("azimuth_offset")) is not None:
            fields["azimuth_offset_deg"] = offset_deg
        if (time_s := self.number("channel_time")) is not None:
            fields["time_offset_s"] = tuple(time - min(time_s) for time in time_s)
        if origins := self._origins(elevation_deg, offset_deg):
            fields["origin_offset_m"] = origins
        return fields

    def _columns(self, rate_hz: float, fov_deg: float | None) -> int:
        """Whole number of columns in a sweep."""
        if (columns := self.number("columns")) is not None:
            return round(columns)
        if (period_s := self.number("firing_period")) is not None:
            return round(1.0 / (rate_hz * period_s))
        step_deg = self.number("step")
        return round(360.0 / step_deg) if fov_deg is None or fov_deg >= 360.0 else round(fov_deg / step_deg) + 1

    def _origins(
        self, elevation_deg: tuple[float, ...], offset_deg: tuple[float, ...] | None
    ) -> tuple[tuple[float, ...], ...]:
        """Start points of the beams in the frame of the rotating head [m]; empty if not given."""
        if (radius_m := self.number("beam_origin")) is not None:
            return ((radius_m, 0.0, 0.0),)
        up_m, left_m = self.number("vertical_offset"), self.number("horizontal_offset")
        if up_m is None and left_m is None:
            return ()
        channels = len(elevation_deg)
        up, left = (np.zeros(channels) if given is None else np.array(given) for given in (up_m, left_m))

        # Square to the beam is up and backwards for a beam that looks up; then each channel's own azimuth turns it
        elevation, azimuth = np.radians(elevation_deg), np.radians(offset_deg or np.zeros(channels))
        back = np.zeros(channels)
        if self.vertical_offset is not None and self.vertical_offset.means == "across the beam":
            back, up = up * np.sin(elevation), up * np.cos(elevation)
        x = -back * np.cos(azimuth) - left * np.sin(azimuth)
        y = -back * np.sin(azimuth) + left * np.cos(azimuth)
        return tuple(tuple(row) for row in np.stack([x, y, up], axis=-1).tolist())

    def _rosette(self) -> dict[str, Any]:
        """Fields of a rosette."""
        wedge, index, speed_hz = (_several(self.number(name)) for name in ("prism_wedge", "prism_index", "prism_speed"))
        count = len(wedge)
        phase = _several(self.number("prism_phase") or 0.0)
        prisms = [
            {"wedge_deg": w, "refractive_index": n, "rotor_rpm": _as_written(60.0 * hz), "phase_deg": p}
            for w, n, hz, p in zip(wedge, _each(index, count), speed_hz, _each(phase, count), strict=True)
        ]
        fields: dict[str, Any] = {"kind": "rosette", "prisms": prisms}
        for name, field in (("laser_rate", "point_rate_hz"), ("frame_rate", "rate_hz"), ("first_shot", "first_shot_s")):
            if (number := self.number(name)) is not None:
                fields[field] = _as_written(number)
        if (tilt := self.number("laser_tilt")) is not None:
            fields["beams_yz"] = tuple((0.0, z) for z in tilt)
        return fields


def _several(number: float | tuple[float, ...]) -> tuple[float, ...]:
    return number if isinstance(number, tuple) else (number,)


def _each(numbers: tuple[float, ...], count: int) -> tuple[float, ...]:
    return numbers * count if len(numbers) == 1 else numbers


def _as_written(number: float) -> float:
    """Without the last bits of a conversion: rotors turn by the number as written, in exact arithmetic."""
    return float(f"{number:.12g}")


# Values that only one kind of scan has
_NAMES = tuple(LidarSheet.rules())
_SPINNING = _NAMES[: _NAMES.index("prism_wedge")]
_ROSETTE = _NAMES[_NAMES.index("prism_wedge") : _NAMES.index("min_range")]
