"""A data sheet of an IMU from its rest."""

from typing import Any

from sensorium.recordings.fit.fitted import Fitted, fitted, held_figures, of_axes, value
from sensorium.recordings.measure.imu import UNITS, ImuRest, measure_rest

GROUPS = {"accelerometer": "linear", "gyroscope": "angular"}
"""Group of the sheet for each triad."""

_LEAST_S = 10.0


def fit_imu(rest: ImuRest, *, hold_out: bool = True) -> Fitted:
    """Fit a sheet to the first half of the rest, and hold it against the second.

    Biases are those of one unit and one switching on, and no values of a sheet.

    Args:
        rest: Samples of an IMU at rest.
        hold_out: False fits it to the whole rest.
    """
    used, later = halves(rest) if hold_out else (rest, None)
    measurement = measure_rest(used)
    values: dict[str, Any] = {"sample_rate": value(rest.rate_hz, "Hz", "times of the samples")}
    for name, group in GROUPS.items():
        figures, unit = measurement.of(f"{name}.white_noise"), UNITS[name]
        values[f"{group}.density"] = of_axes(figures, f"{unit}/sqrt(Hz)", means="two-sided")
        if name in rest.lsb:
            values[f"{group}.lsb"] = value(rest.lsb[name].tolist(), unit, f"{name}.scale")
    head = {"kind": "imu", "model": rest.source, "description": f"IMU, as measured in {rest.source}"}
    other = None if later is None else measure_rest(later)
    held = held_figures(measurement, other, [f"{name}.white_noise" for name in GROUPS])
    return fitted(head, values, measurement, held_out=held, is_whole=not hold_out, remarks=measurement.remarks)


def halves(rest: ImuRest) -> tuple[ImuRest, ImuRest | None]:
    """The first half of the rest, and the second; of less than ten seconds all, and None."""
    samples = len(rest.triads["accelerometer"])
    if samples < _LEAST_S * rest.rate_hz:
        return rest, None
    parts = slice(samples // 2), slice(samples // 2, None)
    first, second = (
        rest._replace(triads={name: values[part] for name, values in rest.triads.items()}) for part in parts
    )
    return first, second
