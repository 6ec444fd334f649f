"""A data sheet of a spinning lidar from its recording."""

import math
from pathlib import PurePath
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.devices import LidarSheet, describe
from sensorium.recordings.fit.fitted import Fitted, HeldOut, fitted, kept, maker_of, of_figure, value
from sensorium.recordings.fit.halves import halves, whole_turns
from sensorium.recordings.fit.noise_law import (
    FactorTable,
    Law,
    NoiseSamples,
    is_along_rings,
    noise_samples,
    predicted,
)
from sensorium.recordings.fit.photon_law import REFLECTANCE, Choice, PhotonLaw, chosen_law
from sensorium.recordings.measure.intervals import NORMAL_95
from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measurement import Measurement
from sensorium.recordings.scans import LidarRecording

LIBRARY = {
    "VLP-16": "velodyne-vlp16",
    "VLP-32C": "velodyne-vlp32c",
    "HDL-32E": "velodyne-hdl32e",
    "VLS-128": "velodyne-vls128",
    "Pandar64": "hesai-pandar64",
    "PandarXT-32": "hesai-xt32",
    "OS-0-128": "ouster-os0-128",
    "OS-1-128": "ouster-os1-128",
    "OS-1-64": "ouster-os1-64",
    "OS-2-128": "ouster-os2-128",
}
"""Data sheet of the library for a device as a recording names it."""

_SPREAD = "1 sigma"

# Elevations that differ by less are the same but for rounding [deg]
_SAME_DEG = 1e-6

# Values that a recording does not show, which are taken over from the library's sheet of the same device
_KEPT = (
    *("beam_origin", "vertical_offset", "horizontal_offset", "min_range", "max_range"),
    *("range_5_percent", "range_10_percent", "range_80_percent", "range_90_percent", "detection_probability"),
    *("angle_noise", "wavelength", "divergence", "exit_size", "pulse", "reflectivity_bits"),
)


def fit_lidar(recording: LidarRecording, *, hold_out: bool = True) -> Fitted:
    """Fit a sheet to every second turn of a recording, and hold it against the turns between.

    Args:
        recording: Columns of a spinning lidar whose beams' elevations are known.
        hold_out: False fits it to all turns, and nothing is left to hold it against.
    """
    if recording.elevation is None:
        raise SpecError(f"{recording.source!r} has no calibration of {recording.device}; a sheet needs the elevations")
    used, rest = halves(recording) if hold_out else (recording, None)
    measurement, other = measure_lidar(used), None if rest is None else measure_lidar(rest)
    along_rings = is_along_rings(measurement)
    if rest is not None and other is not None and is_along_rings(other) != along_rings:
        # A scene that moves in one half does not rest in the other
        measurement, other = (measure_lidar(part, along_rings=True) for part in (used, rest))
        along_rings = True
    choice = chosen_law(noise_samples(used, measurement))
    known = LIBRARY.get(recording.device)
    base = describe(known).sheet if known is not None else None
    assert base is None or isinstance(base, LidarSheet)
    values = _beam_values(used, base) | _timing_values(used, measurement, base)
    values |= _measured_values(used, measurement, choice, base, along_rings=along_rings) | kept(base, _KEPT)
    turns = whole_turns(used)
    remarks = [*measurement.remarks, f"fitted to {turns} turn{'s' * (turns > 1)} of {whole_turns(recording)}"]
    if choice.gain is not None:
        better = "photons and a floor" if choice.gain > 0.0 else "the product of tables by range and by reflectance"
        remarks.append(f"of the laws of noise, {better} is more likely, by {abs(choice.gain):.2g} a sample")
    held: tuple[HeldOut, ...] = ()
    if rest is not None and other is not None:
        held = held_out(choice.law, noise_samples(rest, other), measurement, other)
    file = PurePath(recording.source).name
    description = f"{recording.channels} channels, as measured in {file}"
    head = {"kind": "lidar", "model": recording.device, "description": description, "scan": "spinning"}
    angles, is_whole = {"CAL": f"angles read with {file}"}, not hold_out
    return fitted(
        head, values, measurement, base=base, held_out=held, is_whole=is_whole, remarks=remarks, sources=angles
    )


def _beam_values(recording: LidarRecording, base: LidarSheet | None) -> dict[str, Any]:
    """Where beams point: the library's values if the recording was read with them, else those it was read with."""
    assert recording.elevation is not None
    elevation_deg = np.degrees(recording.elevation)
    if base is not None:
        stated = np.atleast_1d(base.number("elevation"))
        if stated.shape == elevation_deg.shape and np.abs(stated - elevation_deg).max() < _SAME_DEG:
            return kept(base, ("elevation", "azimuth_offset", "channel_time", "direction"))
    clockwise = "clockwise" if recording.is_clockwise else "counterclockwise"
    given = {"source": "CAL", "grade": "A"}
    values: dict[str, Any] = {"elevation": {"value": elevation_deg.tolist(), "unit": "deg", **given}}
    if recording.azimuth_offset.any():
        # The recording counts them in the direction of rotation
        offset_deg = np.degrees(recording.azimuth_offset).tolist()
        values["azimuth_offset"] = {"value": offset_deg, "unit": "deg", "means": clockwise, **given}
    if recording.channel_time_s.any():
        values["channel_time"] = {"value": (1e6 * recording.channel_time_s).tolist(), "unit": "us", **given}
    return {**values, "direction": value(clockwise, "1", "the encoder")}


def _timing_values(recording: LidarRecording, measurement: Measurement, base: LidarSheet | None) -> dict[str, Any]:
    """When columns fire."""
    values: dict[str, Any] = {}
    rate, period = measurement.figure("rotation_rate"), measurement.figure("firing_period")
    columns = recording.columns_per_turn or round(1.0 / (rate.value * period.value))
    exact_hz = 1.0 / (columns * period.value)
    note = f"The rate at which {columns} firings fill a turn; measured {rate.value:.7g} Hz."
    values["rotation_rate"] = value(exact_hz, "Hz", "firing_period", note=note)
    if recording.columns_per_turn:
        values["columns"] = value(columns, "1", "columns of a turn")
        return values
    maker = maker_of(base, "firing_period")
    values["firing_period"] = of_figure(period, "us", 1e6, "firing_period", **maker)
    return values


def _measured_values(
    recording: LidarRecording, measurement: Measurement, choice: Choice, base: LidarSheet | None, *, along_rings: bool
) -> dict[str, Any]:
    """Noise, tails, biases, jitter, returns."""
    how = "along rings, roughness of surfaces included" if along_rings else "between turns"
    maker = maker_of(base, "range_noise") or maker_of(base, "range_accuracy")
    quantum, whole = measurement.figure("quantum"), measurement.figure("noise")
    values = {"range_quantum": of_figure(quantum, "mm", 1e3, "quantum", **maker_of(base, "range_quantum"))}
    what, law = f"noise, {how}, without the rounding", choice.law
    if isinstance(law, PhotonLaw):
        values["range_noise"] = value(1e3 * law.floor_m, "mm", f"{what}, of strong signals", means=_SPREAD, **maker)
        values["signal_noise"] = value(1e3 * law.std_m, "mm", f"noise by signal, {how}", means=_SPREAD)
        values["signal_reflectance"] = value(100.0 * REFLECTANCE, "%", "signal over range and reflectivity")
        values["signal_range"] = value(law.range_m, "m", "median of the ranges")
    else:
        low, high = (law.std_m * end / whole.value for end in (whole.low, whole.high))
        noise = whole._replace(value=law.std_m, low=low, high=high)
        values["range_noise"] = of_figure(noise, "mm", 1e3, what, means=_SPREAD, **maker)
        for name, table, unit, scale in (
            ("range", law.by_range, "m", 1.0),
            ("reflectance", law.by_reflectance, "%", 100.0),
        ):
            if len(table.place) > 1:
                values |= _factor_values(name, table, unit, scale)
    for excess in measurement.of("noise.excess_kurtosis"):
        if excess.value > 0.0 and not along_rings:
            values["excess_kurtosis"] = of_figure(excess, "1", 1.0, excess.quantity)
    for lost in measurement.of("dropout"):
        values["dropout"] = of_figure(lost, "%", 100.0, lost.quantity)
    values |= _bias_values(recording, measurement)
    jitter_s = column_jitter_s(recording, measurement)
    if jitter_s > 0.0:
        values["column_jitter"] = value(1e6 * jitter_s, "us", "column_jitter", means=_SPREAD)
    for least in measurement.of("separation.least"):
        values["return_separation"] = of_figure(least, "m", 1.0, least.quantity)
    return values


def _factor_values(name: str, table: FactorTable, unit: str, scale: float) -> dict[str, Any]:
    half = NORMAL_95 * table.error
    interval = np.stack([table.factor - half, table.factor + half], axis=1).tolist()
    what = f"noise by {name}"
    return {
        f"noise_{name}s": value((scale * table.place).tolist(), unit, f"{what}, medians of the bins"),
        f"noise_by_{name}": value(table.factor.tolist(), "1", what, interval=interval),
    }


def _bias_values(recording: LidarRecording, measurement: Measurement) -> dict[str, Any]:
    """Biases of beams, where they differ by more than their errors; a beam that was not measured has none."""
    spread, beams = measurement.of("bias.spread"), measurement.of("bias.of_beam")
    if not spread or spread[0].low <= 0.0:
        return {}
    table = np.zeros((recording.channels, 3))
    for each in beams:
        table[int(each.where.removeprefix("beam "))] = each.value, each.low, each.high
    interval = (1e3 * table[:, 1:]).tolist()
    return {"channel_bias": value((1e3 * table[:, 0]).tolist(), "mm", "bias.of_beam", interval=interval)}


def stamp_quantum_ns(recording: LidarRecording) -> int:
    """Step of the times that the device wrote [ns]."""
    stamps = recording.time_ns[recording.is_stamped]
    return int(np.gcd.reduce(np.diff(stamps))) if len(stamps) > 1 else 1


def column_jitter_s(recording: LidarRecording, measurement: Measurement) -> float:
    """Standard deviation of the time of one column [s], from that of intervals between two, without their rounding.

    The variance of an interval is twice that of a column, and q^2 / 6 for times in steps of q.
    """
    found = measurement.of("column_jitter")
    if not found:
        return 0.0
    rounding_s2 = (1e-9 * stamp_quantum_ns(recording)) ** 2 / 6.0
    return math.sqrt(max(found[0].value ** 2 - rounding_s2, 0.0) / 2.0)


def held_out(law: Law, samples: NoiseSamples, measurement: Measurement, other: Measurement) -> tuple[HeldOut, ...]:
    """Figures of other turns beside the sheet's values."""
    pairs: list[HeldOut] = []
    for quantity in ("noise", "noise.by_range", "noise.by_reflectivity"):
        pairs += [HeldOut(figure, value) for figure, value in predicted(law, samples, other.of(quantity))]
    same = ("quantum", "firing_period", "column_jitter", "noise.excess_kurtosis", "separation.least", "dropout")
    for quantity in same:
        mine, theirs = measurement.of(quantity), other.of(quantity)
        if mine and theirs:
            pairs.append(HeldOut(theirs[0], mine[0].value))
    return tuple(pairs)
