"""Modes in which each lidar option acts; elsewhere the option is refused, so that none is silently ignored."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sensorium.sensors.common.unused_options import refuse, refuse_set, set_option

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar

_LIGHT = ("relative", "radiometric", "waveform")
_WATTS = ("radiometric", "waveform")
_RAYS = ("relative", "radiometric")

ACTS_IN: Mapping[str, tuple[str, ...]] = {
    "normals": ("geometric",),
    "noise.by_signal": ("relative",),
    "noise.by_reflectance": ("relative",),
    "beam.rays": _RAYS,
    "beam.separation_m": _RAYS,
    "beam": _LIGHT,
    "beam.exit_radius_m": ("relative", "waveform"),
    "beam.detector_offset_m": ("relative", "waveform"),
    "intensity": _LIGHT,
    "receiver": _WATTS,
    "receiver.rise_time_s": ("radiometric",),
    "waveform": ("waveform",),
    "max_depth": _LIGHT,
    "floor": _LIGHT,
    "detection": _LIGHT,
    "threshold": _LIGHT,
    "returns": _LIGHT,
    "max_returns": _LIGHT,
    "round_trip": _LIGHT,
    "divergence": ("relative",),
    "atmospheric_returns": _LIGHT,
    "atmospheric_law": _RAYS,
    "calibrated_index": _LIGHT,
    "saturation": _RAYS,
    "blooming": _RAYS,
    "repetition": _RAYS,
    "crosstalk": _RAYS,
}
"""Modes in which an option acts; an option that is not listed acts in every mode."""


ACTS_BESIDE: Mapping[str, str] = {
    "beam.exit_radius_m": "beam.rays",  # rays of a beam start at points across the exit
    "receiver.filter_width_m": "crosstalk",
    "receiver.half_field_rad": "crosstalk",
}
"""Options that depend on another option and act in its modes."""


def refuse_unused(spec: "Lidar") -> None:
    """Raise a ValueError for the first option that is set and has no effect in the lidar's mode."""
    read = {
        path
        for path, other in ACTS_BESIDE.items()
        if set_option(spec, other) is not None and spec.mode in ACTS_IN[other]
    }
    for path, modes in ACTS_IN.items():
        found = None if spec.mode in modes else set_option(spec, path, read)
        if found is not None:
            beside = f" or with {ACTS_BESIDE[found[0]]}" if found[0] in ACTS_BESIDE else ""
            refuse(*found, f"with mode {spec.mode!r}; it acts in mode {_either(modes)}{beside} alone")
    if spec.returns != "all":
        refuse_set(spec, "max_returns", f"with returns {spec.returns!r}; it acts with returns 'all' alone")
    if spec.mode == "waveform" and spec.atmospheric_returns == "priority":
        raise ValueError("atmospheric_returns is 'priority' with mode 'waveform', where air and surfaces add up")
    if spec.receiver.length_m is not None:
        rule = f"with receiver.length_m {spec.receiver.length_m}; a receiver is round or has corners"
        refuse_set(spec, "beam.detector_radius_m", rule)
    if spec.waveform.detector.kind == "cfar":
        rule = "with a Cfar detector; that one has a false_alarm of its own"
        refuse_set(spec, "receiver.false_alarm_probability", rule)


def _either(modes: tuple[str, ...]) -> str:
    """Modes as a phrase."""
    quoted = [repr(mode) for mode in modes]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
