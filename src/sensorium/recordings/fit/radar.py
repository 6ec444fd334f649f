"""A data sheet of a radar from a list of its detections, seen in motion."""

import math
from typing import Any

import numpy as np

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.recordings.fit.fitted import Fitted, estimate, fitted, held_figures, of_figure, value
from sensorium.recordings.measure.radar import measure_radar
from sensorium.recordings.readers.radar_lists import DetectionList

_HELD = ("doppler_noise", "doppler_noise.head_on", "azimuth_noise", "doppler_quantum", "azimuth_quantum")

# Of both errors: name in a sheet, noise, quantum, unit
_ERRORS = (
    ("speed", "doppler_noise.head_on", "doppler_quantum", "m/s"),
    ("azimuth", "azimuth_noise", "azimuth_quantum", "rad"),
)
_FREQUENCY_HZ, _BANDWIDTH_HZ, _ROWS = 76.5e9, 300e6, 4
_LEAST_OF_HALF = 24


def fit_radar(detections: DetectionList, *, hold_out: bool = True) -> Fitted:
    """Fit a sheet to every second detection, and hold it against those between.

    Noise is that of detections that stand still, without the rounding q^2 / 12 of its steps. Fields of view and
    range are those of the detections, which the device's own are at least as wide as.

    Args:
        detections: Of a radar that moves.
        hold_out: False fits it to all detections.
    """
    used, rest = halves(detections) if hold_out else (detections, None)
    measurement = measure_radar(used)
    fields = detections.fields
    if measurement.figure("doppler_noise").value <= 0.0:
        raise SpecError(f"{measurement.source!r} shows no noise of Doppler; a sheet needs it")
    has_elevation = "elevation_angle" in fields
    farthest_m, cell_m = float(fields["range"].max()), SPEED_OF_LIGHT_M_S / (2.0 * _BANDWIDTH_HZ)
    enough = "Enough cells for its range."
    values: dict[str, Any] = {
        "frequency": estimate(1e-9 * _FREQUENCY_HZ, "GHz", "The middle of the band of automotive radars."),
        "bandwidth": estimate(1e-6 * _BANDWIDTH_HZ, "MHz", "Not in a list of detections."),
        "samples": estimate(2 ** math.ceil(math.log2(farthest_m / cell_m + 1.0)), "1", enough),
        "max_range": value(farthest_m, "m", "farthest detection"),
        "horizontal_fov": _field_of_view(fields["azimuth_angle"], "azimuth"),
        "tracks": value(len(fields["range"]), "1", "number of detections"),
    }
    if (limit := detections.head.get("ambiguity_free_velocity_max", 0.0)) > 0.0:
        ramp_s = SPEED_OF_LIGHT_M_S / _FREQUENCY_HZ / (4.0 * limit)
        note = f"Of which speeds are free of aliases to {limit:g} m/s."
        values["ramp"] = value(1e6 * ramp_s, "us", "ambiguity_free_velocity_max", note=note)
    if has_elevation:
        values["vertical_fov"] = _field_of_view(fields["elevation_angle"], "elevation")
        values["elevation_antennas"] = estimate(_ROWS, "1", "The list has elevations.")
    for name, noise, quantum, unit in _ERRORS:
        rounding = 0.0
        for figure in measurement.of(quantum):
            values[f"{name}_quantum"] = of_figure(figure, unit, 1.0)
            rounding = figure.value**2 / 12.0
        figure = measurement.figure(noise)
        if figure.value**2 > rounding:
            inner = math.sqrt(1.0 - rounding / figure.value**2)
            figure = figure._replace(value=inner * figure.value, low=inner * figure.low, high=inner * figure.high)
            what = f"{noise}, without the rounding"
            values[f"{name}_noise"] = of_figure(figure, unit, 1.0, what, means="1 sigma")
    head = {
        "kind": "radar",
        "model": detections.device or "radar",
        "description": f"radar, as measured in {measurement.source}",
    }
    held = held_figures(measurement, None if rest is None else measure_radar(rest), _HELD)
    return fitted(head, values, measurement, held_out=held, is_whole=not hold_out, remarks=measurement.remarks)


def halves(detections: DetectionList) -> tuple[DetectionList, DetectionList | None]:
    """Every second detection from the first, and those between; of too few all, and None."""
    if len(detections.fields["range"]) < 2 * _LEAST_OF_HALF:
        return detections, None
    first, second = (
        detections._replace(fields={name: values[part::2] for name, values in detections.fields.items()})
        for part in (0, 1)
    )
    return first, second


def _field_of_view(angle: Any, name: str) -> dict[str, Any]:
    """Twice the greatest angle from the axis."""
    whole_deg = min(2.0 * math.degrees(float(np.abs(angle).max())), 179.0)
    return value(whole_deg, "deg", f"greatest {name} of detections")
