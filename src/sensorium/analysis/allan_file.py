"""The file of an Allan fit, `allan.json`, from which a specification can be made.

A JSON object, SI units, written whole or not at all:

    {
      "kind": "sensorium.allan", "version": 1,
      "rate_hz": 200.0, "samples": 4320000, "duration_s": 21600.0,
      "terms": "NBK", "fit_range_s": [0.005, 6553.6], "shape": [3],
      "channels": {
        "angular_velocity.x": {
          "unit": "rad/s",
          "N": {"value": 8.7e-05, "low": 8.6e-05, "high": 8.8e-05, "unit": "rad/s/sqrt(Hz)"},
          "B": {"value": 4.1e-05, "low": 3.9e-05, "high": 4.3e-05, "unit": "rad/s"},
          "K": {"value": 1.2e-06, "low": 0.0, "high": 2.0e-06, "unit": "rad/s/sqrt(s)"},
          "correlation_time_s": 126.0, "model_error": 0.002,
          "deviation": [...], "low": [...], "high": [...], "degrees": [...]
        }, ...
      },
      "tau_s": [...], "averaged": [...]
    }

`value` is the estimate, `low` and `high` the ends of its 95 % interval; `high` is null if the recording sets no limit.
N is two-sided (the one-sided density of data sheets is sqrt(2) N). Q and R are present if they were fitted. Channels
follow in C order of `shape`; `averaged` is the number of overlapping differences at each `tau_s`.
"""

import json
import math
import os
import secrets
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sensorium.analysis.allan import Allan
from sensorium.analysis.allan_fit import AllanFit
from sensorium.analysis.allan_regression import TERMS
from sensorium.core.errors import SpecError, in_one_line
from sensorium.files.plain_files import read_json

KIND, VERSION = "sensorium.allan", 1

_UNIT_OF = {"Q": "{} s", "N": "{}/sqrt(Hz)", "B": "{}", "K": "{}/sqrt(s)", "R": "{}/s"}
_CURVES = ("deviation", "low", "high", "degrees")


def unit_of(term: str, unit: str) -> str:
    """Unit of a coefficient of a signal in this unit."""
    return _UNIT_OF[term].format(unit or "1")


def save(fit: AllanFit, path: str | PathLike[str]) -> None:
    """Write a fit and the curve it belongs to."""
    path = Path(path)
    if not path.parent.is_dir():
        raise SpecError(f"path is {str(path)!r}; its folder does not exist")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_text(json.dumps(_as_json(fit), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | PathLike[str]) -> AllanFit:
    """Read a file written by `save`."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("kind") != KIND or data.get("version") != VERSION:
        raise SpecError(f"{str(path)!r} is no Allan fit; it must have kind {KIND!r} and version {VERSION}")
    try:
        return _from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise SpecError(f"{str(path)!r} is no whole Allan fit: {in_one_line(error)}") from None


def _as_json(fit: AllanFit) -> dict[str, Any]:
    allan, size = fit.allan, len(fit.channels)
    curves = {name: getattr(allan, name).reshape(-1, size) for name in _CURVES}
    values = {term: value.ravel() for term, value in fit.coefficients.items()}
    intervals = {term: ends.reshape(2, size) for term, ends in fit.intervals.items()}
    times, errors = fit.correlation_time_s.ravel(), fit.model_error.ravel()
    channels: dict[str, Any] = {}
    for i, (name, unit) in enumerate(zip(fit.channels, fit.units, strict=True)):
        entry: dict[str, Any] = {"unit": unit}
        for term in fit.terms:
            low, high = intervals[term][:, i].tolist()
            entry[term] = {
                "value": float(values[term][i]),
                "low": low,
                "high": high if math.isfinite(high) else None,
                "unit": unit_of(term, unit),
            }
        entry |= {"correlation_time_s": float(times[i]), "model_error": float(errors[i])}
        entry |= {curve: table[:, i].tolist() for curve, table in curves.items()}
        channels[name] = entry
    return {
        "kind": KIND,
        "version": VERSION,
        "rate_hz": allan.rate_hz,
        "samples": allan.samples,
        "duration_s": allan.duration_s,
        "terms": fit.terms,
        "fit_range_s": list(fit.fit_range_s),
        "shape": list(fit.model_error.shape),
        "channels": channels,
        "tau_s": allan.tau_s.tolist(),
        "averaged": allan.terms.tolist(),
    }


def _from_json(data: dict[str, Any]) -> AllanFit:
    shape, entries = tuple(int(size) for size in data["shape"]), list(data["channels"].values())
    if not set(data["terms"]) <= set(TERMS) or len(set(data["terms"])) != len(data["terms"]):
        raise ValueError(f"terms are {data['terms']!r}; they must be some of {TERMS}")
    if any(size < 0 for size in shape):
        raise ValueError(f"shape is {shape}; no length is negative")

    def table(*keys: str) -> Any:
        """One number, or one row of them, for each channel, none negative; the end of an interval may be null."""
        rows = []
        for entry in entries:
            for key in keys:
                entry = entry[key]
            rows.append(math.inf if entry is None and keys[-1] == "high" else entry)
        values = np.array(rows, np.float64)
        if not (values >= 0.0).all():
            raise ValueError(f"{'.'.join(keys)} holds {values[~(values >= 0.0)][0]}; it must not be negative")
        return values

    allan = Allan(
        tau_s=np.array(data["tau_s"], np.float64),
        **{curve: table(curve).T.reshape(-1, *shape) for curve in _CURVES},
        terms=np.array(data["averaged"], np.int64),
        rate_hz=float(data["rate_hz"]),
        samples=int(data["samples"]),
    )
    if len(allan.tau_s) != len(allan.deviation) or allan.terms.shape != allan.tau_s.shape:
        raise ValueError(f"there are {len(allan.tau_s)} times for {len(allan.deviation)} deviations; one for each")
    if not (np.isfinite(allan.deviation).all() and (allan.tau_s > 0.0).all() and allan.rate_hz > 0.0):
        raise ValueError("tau_s and rate_hz must be positive, and deviations finite")
    low_s, high_s = data["fit_range_s"]
    return AllanFit(
        coefficients={term: table(term, "value").reshape(shape) for term in data["terms"]},
        intervals={
            term: np.stack([table(term, "low"), table(term, "high")]).reshape(2, *shape) for term in data["terms"]
        },
        model_error=table("model_error").reshape(shape),
        fit_range_s=(float(low_s), float(high_s)),
        allan=allan,
        channels=tuple(data["channels"]),
        units=tuple(str(entry["unit"]) for entry in entries),
    )
