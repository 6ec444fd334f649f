"""Data sheets of depth cameras."""

import math
from typing import Annotated, Any, Literal

from pydantic import model_validator

from sensorium.devices.sheet import Quantity, Rule, Sheet
from sensorium.devices.units import SPREAD

_LIGHT_SPEED_M_S = 299_792_458.0

# Rays along a side of a pixel that gathers light over all of its area
_RAYS = 3


class DepthCameraSheet(Sheet):
    """A depth camera: stereo, time of flight, or a device with nothing stated but its field of view."""

    kind: Literal["depth_camera"] = "depth_camera"
    principle: Literal["stereo", "time_of_flight", "untold"]
    """Measuring principle; "untold" if no figure of its errors is known."""

    # Image
    columns: Annotated[Quantity, Rule("1", ("pattern.width",))]
    rows: Annotated[Quantity, Rule("1", ("pattern.height",))]
    focal_length: Annotated[Quantity | None, Rule("px", ("pattern.focal_px",))] = None
    """The same along columns and rows."""
    horizontal_fov: Annotated[Quantity | None, Rule("deg", ("pattern.focal_px",))] = None
    """From edge to edge; used if no focal length is given."""
    vertical_fov: Annotated[Quantity | None, Rule("deg", ("pattern.focal_px",))] = None
    frame_rate: Annotated[Quantity, Rule("Hz", ("pattern.rate_hz",))]
    """Of the mode that the sheet describes."""

    # Range
    min_range: Annotated[Quantity | None, Rule("m", ("min_range_m",))] = None
    """Least depth."""
    max_range: Annotated[Quantity | None, Rule("m", ("max_range_m",))] = None
    """Greatest depth."""
    depth_unit: Annotated[Quantity | None, Rule("m", ("errors",))] = None
    """Step of the numbers that are read out."""

    # Two eyes
    baseline: Annotated[Quantity | None, Rule("m", ("errors",))] = None
    disparity_noise: Annotated[Quantity | None, Rule("px", ("errors",), SPREAD)] = None
    disparity_quantum: Annotated[Quantity | None, Rule("px", ("errors",))] = None
    """Step of disparities, 1 / 2^m."""
    disparity_levels: Annotated[Quantity | None, Rule("px", ("errors",))] = None
    """Greatest disparity of the search."""

    # Time of flight: noise is given at a distance and a reflectance, or as a share of the distance
    wavelength: Annotated[Quantity | None, Rule("m", ("errors",))] = None
    modulation: Annotated[Quantity | None, Rule("Hz", ("errors",))] = None
    ambiguity: Annotated[Quantity | None, Rule("m", ("errors",))] = None
    """Unambiguous range."""
    range_noise: Annotated[Quantity | None, Rule("m", ("errors",), SPREAD)] = None
    noise_distance: Annotated[Quantity | None, Rule("m", ("errors",))] = None
    """Distance at which the noise is given."""
    noise_reflectance: Annotated[Quantity | None, Rule("1", ("errors",))] = None
    """Reflectance of the surface for which it is given."""
    range_noise_slope: Annotated[Quantity | None, Rule("1", ("errors",), SPREAD)] = None
    """Noise as a share of the distance."""

    # Stated only
    depth_accuracy: Annotated[Quantity | None, Rule("1")] = None
    """Error of every cause as a share of the distance."""
    range_accuracy: Annotated[Quantity | None, Rule("m")] = None
    """Systematic error at most."""
    diagonal_fov: Annotated[Quantity | None, Rule("deg")] = None

    @model_validator(mode="after")
    def _enough_for_errors(self) -> "DepthCameraSheet":
        if self.focal_length is None and self.horizontal_fov is None:
            raise ValueError("focal_length and horizontal_fov are missing; one of them must be given")
        if self.principle == "stereo" and self.baseline is None:
            raise ValueError("baseline is missing; principle 'stereo' cannot do without")
        by_signal = self.range_noise, self.noise_distance, self.noise_reflectance, self.modulation, self.wavelength
        if any(by_signal[1:3]) and not all(by_signal):
            raise ValueError(
                "noise by signal needs range_noise, noise_distance, noise_reflectance, modulation and wavelength; "
                "all of them must be given, or no distance and reflectance"
            )
        return self

    def specification(self) -> dict[str, Any]:
        """Fields of `DepthCamera`."""
        columns, rows = round(self.number("columns")), round(self.number("rows"))
        pattern: dict[str, Any] = {"kind": "pinhole", "width": columns, "height": rows}
        pattern["focal_px"] = self._focal_px(columns, rows)
        pattern["rate_hz"] = self.number("frame_rate")
        fields: dict[str, Any] = {"kind": "depth_camera", "pattern": pattern}
        for name, field in (("min_range", "min_range_m"), ("max_range", "max_range_m")):
            if (number := self.number(name)) is not None:
                fields[field] = number
        if errors := self._errors():
            fields["errors"] = errors
        return fields

    def defaults(self) -> tuple[str, ...]:
        """Fields that keep the model's default."""
        filled = {field for _, _, rule in self.stated() for field in rule.fills}
        wanted = dict.fromkeys(field for rule in self.rules().values() for field in rule.fills)
        missing = [field for field in wanted if field not in filled]
        if self.principle == "stereo":
            names = {"disparity_noise": "errors.disparity_std_px", "disparity_levels": "errors.max_disparity_px"}
            missing += [field for name, field in names.items() if getattr(self, name) is None]
            missing += ["errors.loss", "errors.grazing_cosine"]
        if self.principle == "time_of_flight":
            missing += ["errors.ambient_e", "errors.min_signal_e"]
        return tuple(missing)

    def _focal_px(self, columns: int, rows: int) -> tuple[float, float]:
        """As given, or from the fields of view."""
        if (focal := self.number("focal_length")) is not None:
            return focal, focal
        across, upright = self.number("horizontal_fov"), self.number("vertical_fov")
        x = 0.5 * columns / math.tan(0.5 * math.radians(across))
        return x, x if upright is None else 0.5 * rows / math.tan(0.5 * math.radians(upright))

    def _errors(self) -> list[dict[str, Any]]:
        """The error models, in the order in which they act."""
        errors: list[dict[str, Any]] = []
        if self.principle == "stereo":
            errors.append(self._stereo())
        elif self.principle == "time_of_flight":
            errors += self._timed()
        if (step_m := self.number("depth_unit")) is not None:
            errors.append({"kind": "quantization", "step_m": step_m})
        return errors

    def _stereo(self) -> dict[str, Any]:
        """Fields of `StereoError`."""
        fields = {"kind": "stereo", "baseline_m": self.number("baseline")}
        for name, field in (("disparity_noise", "disparity_std_px"), ("disparity_levels", "max_disparity_px")):
            if (number := self.number(name)) is not None:
                fields[field] = number
        if (quantum := self.number("disparity_quantum")) is not None:
            fields["subpixel_bits"] = round(math.log2(1.0 / quantum))
        return fields

    def _timed(self) -> list[dict[str, Any]]:
        """Noise by signal if the sheet names the surface, else by distance alone.

        sigma = c / (4 sqrt(2) pi f) / sqrt(A) gives the signal A at the distance z and the reflectance rho of the
        sheet, and A_1 = A z^2 / rho that of a white surface at 1 m.
        """
        if self.noise_distance is not None:
            modulation_hz = self.number("modulation")
            scale_m = _LIGHT_SPEED_M_S / (4.0 * math.sqrt(2.0) * math.pi * modulation_hz)
            signal = (scale_m / self.number("range_noise")) ** 2
            fields = {
                "kind": "time_of_flight",
                "modulation_hz": modulation_hz,
                "signal_e": signal * self.number("noise_distance") ** 2 / self.number("noise_reflectance"),
                "rays": _RAYS,
                "wavelength_m": self.number("wavelength"),
            }
            if (ambiguity_m := self.number("ambiguity")) is not None:
                fields["ambiguity_m"] = ambiguity_m
            return [fields]
        mixed: dict[str, Any] = {"kind": "flying_pixels", "rays": _RAYS}
        if (wavelength_m := self.number("wavelength")) is not None:
            mixed["wavelength_m"] = wavelength_m
        law = {"base_m": self.number("range_noise"), "slope": self.number("range_noise_slope")}
        given = {name: number for name, number in law.items() if number is not None}
        return [mixed, {"kind": "quadratic", "along": "range", **given}] if given else [mixed]
