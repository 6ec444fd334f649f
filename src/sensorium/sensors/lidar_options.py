"""Which options of a lidar act in which of its modes; others are refused, so that none is ignored in silence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from sensorium.sensors.lidar import Lidar

_LIGHT = ("relative", "radiometric", "waveform")
_WATTS = ("radiometric", "waveform")
_RAYS = ("relative", "radiometric")

ACTS_IN: Mapping[str, tuple[str, ...]] = {
    "normals": ("geometric",),
    "beam": _LIGHT,
    "beam.rays": _RAYS,
    "beam.separation_m": _RAYS,
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


def refuse_unused(spec: "Lidar") -> None:
    """Raise a ValueError for the first option that is set and has no effect in the lidar's mode."""
    for path, modes in ACTS_IN.items():
        aperture = path == "beam.exit_radius_m" and spec.mode == "radiometric" and spec.beam.rays > 1
        if spec.mode not in modes and not aperture:  # rays of a beam start all over it
            asked = _without_field(spec) if path == "receiver" and spec.crosstalk is not None else spec
            _refuse_set(asked, path, f"with mode {spec.mode!r}; it acts in mode {_either(modes)} alone")
    if spec.returns != "all":
        _refuse_set(spec, "max_returns", f"with returns {spec.returns!r}; it acts with returns 'all' alone")
    if spec.mode == "waveform" and spec.atmospheric_returns == "priority":
        raise ValueError("atmospheric_returns is 'priority' with mode 'waveform', where air and surfaces add up")
    if spec.receiver.length_m is not None:
        rule = f"with receiver.length_m {spec.receiver.length_m}; a receiver is round or has corners"
        _refuse_set(spec, "beam.detector_radius_m", rule)
    if spec.waveform.detector.kind == "cfar":
        rule = "with a Cfar detector; that one has a false_alarm of its own"
        _refuse_set(spec, "receiver.false_alarm_probability", rule)


def _without_field(spec: "Lidar") -> "Lidar":
    """The lidar with the receiver's field as by default: cross-talk looks at the field in its modes."""
    usual = type(spec.receiver).model_fields["half_field_rad"].default
    return spec.model_copy(update={"receiver": spec.receiver.model_copy(update={"half_field_rad": usual})})


def _refuse_set(spec: BaseModel, path: str, rule: str) -> None:
    """Raise a ValueError if an option is not what it is by default; of a table, its first entry that is not."""
    *tables, last = path.split(".")
    value: Any = spec
    default: Any = type(spec).model_fields[path.split(".")[0]].default
    for name in tables:
        value = getattr(value, name)
    value, default = getattr(value, last), getattr(default, last) if tables else default
    if value == default:
        return
    while isinstance(value, BaseModel) and type(value) is type(default):
        name = next(name for name in type(value).model_fields if getattr(value, name) != getattr(default, name))
        path, value, default = f"{path}.{name}", getattr(value, name), getattr(default, name)
    shown = f"a {type(value).__name__}" if isinstance(value, BaseModel) else repr(value)
    raise ValueError(f"{path} is {shown} {rule}")


def _either(modes: tuple[str, ...]) -> str:
    """Modes in words."""
    quoted = [repr(mode) for mode in modes]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
