"""Data sheets of cameras, and of chips with the lens they are used behind."""

from typing import Annotated, Any, Literal

from pydantic import model_validator

from sensorium.devices.sheet import Quantity, Rule, Sheet

_NEVER_TOLD = ("spherical", "astigmatism", "curvature", "distortion", "coma", "vignetting_per_m", "sample_factor")

# Fields of the noise that one value each decides
_NOISE = {"read_noise_e": "dark_noise", "dark_current_e_s": "dark_current", "dsnu_e": "dsnu", "prnu": "prnu"}

_COLORS = ("red", "green", "blue")


class CameraSheet(Sheet):
    """A camera: chip, lens, and noise as EMVA 1288 reports it."""

    kind: Literal["camera"] = "camera"

    # Chip
    columns: Annotated[Quantity, Rule("1", ("columns", "width_m"))]
    rows: Annotated[Quantity, Rule("1", ("rows", "height_m"))]
    pixel_pitch: Annotated[Quantity, Rule("m", ("width_m", "height_m"))]
    """From pixel to pixel, along both axes."""
    frame_rate: Annotated[Quantity | None, Rule("Hz", ("timing.rate_hz",))] = None
    exposure: Annotated[Quantity, Rule("s", ("exposure_s",))]
    """Of the images that the sheet describes."""
    line_time: Annotated[Quantity | None, Rule("s", ("line_time_s",))] = None
    """From row to row of a rolling shutter; a sheet without has a global one."""
    gamma: Annotated[Quantity | None, Rule("1", ("gamma",))] = None
    mosaic: Annotated[Quantity | None, Rule("", ("mosaic",))] = None
    """rggb, bggr, grbg or gbrg."""

    # Lens
    focal_length: Annotated[Quantity, Rule("m", ("focal_length_m", "pupil_distance_m"))]
    f_number: Annotated[Quantity, Rule("1", ("pupil_radius_m",))]
    """Focal length over diameter of the entrance pupil."""
    focused_at: Annotated[Quantity, Rule("m", ("pupil_distance_m",))]
    """Focus distance."""

    # Sensitivity: one curve, or one for each color, over the same wavelengths
    wavelength: Annotated[Quantity, Rule("m", ("bands",))]
    gray: Annotated[Quantity | None, Rule("1", ("bands",))] = None
    """Quantum efficiency of a chip without colors."""
    red: Annotated[Quantity | None, Rule("1", ("bands",))] = None
    """Filter and quantum efficiency in one curve."""
    green: Annotated[Quantity | None, Rule("1", ("bands",))] = None
    blue: Annotated[Quantity | None, Rule("1", ("bands",))] = None

    # Pixels by EMVA 1288
    saturation: Annotated[Quantity | None, Rule("e-", ("full_well_e",))] = None
    """Saturation capacity."""
    system_gain: Annotated[Quantity | None, Rule("DN/e-", ("adc.gain_dn_e",))] = None
    adc_bits: Annotated[Quantity | None, Rule("1", ("adc.bits", "bits"))] = None
    black_level: Annotated[Quantity | None, Rule("DN", ("adc.black_dn",))] = None
    """Code of a pixel without electrons."""
    dark_noise: Annotated[Quantity | None, Rule("e-", ("noise.read_noise_e",))] = None
    """Temporal dark noise."""
    dark_current: Annotated[Quantity | None, Rule("e-/s", ("noise.dark_current_e_s",))] = None
    dsnu: Annotated[Quantity | None, Rule("e-", ("noise.dsnu_e",))] = None
    prnu: Annotated[Quantity | None, Rule("1", ("noise.prnu",))] = None

    # Stated, and measured in the round trip
    quantum_efficiency: Annotated[Quantity | None, Rule("1")] = None
    """At `quantum_wavelength`."""
    quantum_wavelength: Annotated[Quantity | None, Rule("m")] = None
    threshold_photons: Annotated[Quantity | None, Rule("1")] = None
    """Absolute sensitivity threshold: photons that give a signal-to-noise ratio of 1."""
    snr_max: Annotated[Quantity | None, Rule("dB")] = None
    dynamic_range: Annotated[Quantity | None, Rule("dB")] = None
    horizontal_fov: Annotated[Quantity | None, Rule("deg")] = None

    @model_validator(mode="after")
    def _enough_for_bands(self) -> "CameraSheet":
        colors = [getattr(self, name) is not None for name in _COLORS]
        if any(colors) != all(colors) or all(colors) == (self.gray is not None):
            raise ValueError("a camera has one curve, gray, or three, red, green and blue; give one or the other")
        return self

    def specification(self) -> dict[str, Any]:
        """Fields of `Camera`."""
        columns, rows, pitch_m = round(self.number("columns")), round(self.number("rows")), self.number("pixel_pitch")
        focal_m = self.number("focal_length")
        fields: dict[str, Any] = {
            "kind": "camera",
            "columns": columns,
            "rows": rows,
            "width_m": columns * pitch_m,
            "height_m": rows * pitch_m,
            "focal_length_m": focal_m,
            "pupil_distance_m": 1.0 / (1.0 / focal_m - 1.0 / self.number("focused_at")),
            "pupil_radius_m": focal_m / (2.0 * self.number("f_number")),
            "exposure_s": self.number("exposure"),
            "bands": self._bands(),
            "noise": self._given(_NOISE),
            "adc": self._given({"gain_dn_e": "system_gain", "black_dn": "black_level"}),
            **self._given({"gamma": "gamma", "full_well_e": "saturation"}),
        }
        if (bits := self.number("adc_bits")) is not None:
            fields["adc"]["bits"] = fields["bits"] = round(bits)
        if (rate_hz := self.number("frame_rate")) is not None:
            fields["timing"] = {"rate_hz": rate_hz}
        if (line_s := self.number("line_time")) is not None:
            fields |= {"shutter": "rolling", "line_time_s": line_s}
        if self.mosaic is not None:
            fields["mosaic"] = self.word("mosaic")
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        filled = {field for _, _, rule in self.stated() for field in rule.fills}
        wanted = dict.fromkeys(field for rule in self.rules().values() for field in rule.fills)
        return (*(field for field in wanted if field not in filled), *_NEVER_TOLD)

    def _given(self, names: dict[str, str]) -> dict[str, float]:
        """Fields whose values the sheet gives."""
        found = {field: self.number(name) for field, name in names.items()}
        return {field: number for field, number in found.items() if number is not None}

    def _bands(self) -> list[dict[str, Any]]:
        """One band a curve."""
        names = _COLORS if self.gray is None else ("gray",)
        wavelength_m = self.number("wavelength")
        return [{"name": name, "filter": {"wavelength_m": wavelength_m, "value": self.number(name)}} for name in names]
