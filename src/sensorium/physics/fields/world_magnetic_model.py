"""The Earth's magnetic field by the World Magnetic Model, in a local frame or all around the Earth."""

import datetime as dt
import functools
from dataclasses import dataclass
from datetime import date, datetime
from importlib import resources
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.core.rotations import Float
from sensorium.physics.fields.earth import earth_fixed_position, east_north_up
from sensorium.physics.fields.magnetic import AbstractMagnetic
from sensorium.physics.fields.positions import checked_positions, combined, dot

# A model is made for the five years after its epoch
LIFE_YEARS = 5.0

_TESLA_PER_NT = 1e-9


@dataclass(frozen=True, eq=False)
class MagneticModel:
    """One edition of the model, Schmidt semi-normalized; arrays are indexed by degree and order, shape (13, 13).

    Attributes:
        name: Such as "WMM-2025".
        epoch: Decimal year at which g and h hold.
        released: When it was published.
        g: Of the cosines [T].
        h: Of the sines [T].
        g_rate: How g changes [T/year].
        h_rate: How h changes [T/year].
    """

    name: str
    epoch: float
    released: date
    g: Float
    h: Float
    g_rate: Float
    h_rate: Float


def model_for(year: float) -> MagneticModel:
    """The newest model made for a time.

    Args:
        year: Decimal year.
    """
    fitting = [model for model in _models() if model.epoch <= year <= model.epoch + LIFE_YEARS]
    if not fitting:
        first, last = min(model.epoch for model in _models()), max(model.epoch for model in _models())
        raise SpecError(
            f"date is {year:.4f} as a year; the editions of the World Magnetic Model at hand hold from {first} to "
            f"{last + LIFE_YEARS}"
        )
    return max(fitting, key=lambda model: (model.epoch, model.released))


@functools.cache
def _models() -> tuple[MagneticModel, ...]:
    """All editions in the installed pygeomag, except those of high resolution."""
    try:
        folder = resources.files("pygeomag") / "wmm"
    except ModuleNotFoundError:
        raise MissingExtraError(
            "the World Magnetic Model needs the package pygeomag; install it with: pip install 'sensorium[earth]'"
        ) from None
    files = [file for file in folder.iterdir() if file.name.startswith("WMM_") and file.name.endswith(".COF")]
    return tuple(_read(file.read_text()) for file in files)


def _read(text: str) -> MagneticModel:
    """A coefficient file: a line of epoch, name and release, then lines of n, m, g, h and their rates [nT]."""
    head, *lines = text.splitlines()
    epoch, name, released = head.split()

    # A line of nines ends the table
    table = np.array([line.split() for line in lines if line.split() and not line.startswith("9999")], np.float64)
    n, m = table[:, 0].astype(int), table[:, 1].astype(int)
    values = np.zeros((4, n.max() + 1, n.max() + 1))
    values[:, n, m] = table[:, 2:].T * _TESLA_PER_NT
    return MagneticModel(name, float(epoch), datetime.strptime(released, "%m/%d/%Y").date(), *values)


# The geomagnetic radius of reference [m]
REFERENCE_RADIUS_M = 6371200.0

# Up to here from the origin of a local world the field is taken as linear [m]
NEAR_M = 2000.0

# Radius at which the mantle ends and the sources begin [m]
_CORE_RADIUS_M = 3480e3

_NS_PER_YEAR = 365.25 * 86400 * NS_PER_S


class WorldMagneticModel(AbstractMagnetic):
    """The field of the Earth's core as NOAA and the British Geological Survey publish it every five years.

        B = -grad V,   V = a sum_n (a/r)^(n+1) sum_m (g_nm cos m lambda + h_nm sin m lambda) P_nm(sin phi)

    to degree 12, a = 6371.2 km, P_nm Schmidt semi-normalized, g and h linear in time (Chulliat et al., The US/UK World
    Magnetic Model for 2025-2030). Coefficients come with pygeomag (`pip install 'sensorium[earth]'`); the edition is
    the newest made for the date, and a world that runs past its five years is an error.

    In the frame `enu` the world's origin is the given place, x points east, y north and z up there. Within 2 km of the
    origin the field is its value and exact gradient at the origin, off by at most 0.06 nT; further out the sum is
    taken at each point. In the frame `ecef` the world is fixed to the Earth, with its origin at the center, z through
    the north pole and x through latitude 0, longitude 0, and the sum is always taken.

    The model is meant for 1 km below ground to 850 km above. Higher up it stays the core's field, to which the currents
    of space add. It does not include the crust: on the ground the truth differs by some 150 nT, near ores by more.
    """

    kind: Literal["world_magnetic_model"] = "world_magnetic_model"
    latitude_deg: Annotated[float, Field(ge=-90.0, le=90.0)] | None = None
    """Geodetic latitude of the origin, positive north [deg]; not for `ecef`."""
    longitude_deg: Annotated[float, Field(ge=-360.0, le=360.0)] | None = None
    """Longitude of the origin, positive east [deg]; not for `ecef`."""
    height_m: Annotated[float, Field(ge=-12e3, le=850e3)] = 0.0
    """Height of the origin above the ellipsoid WGS 84, from the deepest sea to 850 km [m]; not for `ecef`."""
    date: float | dt.date | dt.datetime
    """When the world starts: a day, an instant (without time zone taken as UTC), or a year such as 2026.5."""
    frame: Literal["enu", "ecef"] = "enu"
    """Axes of the world: east, north and up at the place, or Earth-fixed."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        place = {"latitude_deg": self.latitude_deg, "longitude_deg": self.longitude_deg}
        for name, value in place.items():
            if self.frame == "enu" and value is None:
                raise ValueError(f"{name} is None; the frame 'enu' must have the latitude and longitude of its origin")
            if self.frame == "ecef" and value is not None:
                raise ValueError(f"{name} is {value}; the frame 'ecef' has its origin at the Earth's center")
        if self.frame == "ecef" and self.height_m != 0.0:
            raise ValueError(f"height_m is {self.height_m}; the frame 'ecef' has its origin at the Earth's center")

        # A date out of range or a missing package is reported here, not at the first reading
        model_for(decimal_year(self.date))
        return self

    def at(self, p_W: ArrayLike, time_ns: ArrayLike = 0) -> Float:
        """Magnetic flux density B_W in world axes [T], a new array of shape (*batch, 3).

        Args:
            p_W: Positions in the world [m], shape (*batch, 3).
            time_ns: Time since the start of the world, which is the date [ns], one for all or of a shape that
                broadcasts to batch.
        """
        p = checked_positions(p_W)
        around = _expansion(self.latitude_deg, self.longitude_deg, self.height_m, decimal_year(self.date))
        years = _years_since(time_ns, p.shape[:-1], around)
        if around.near is None:
            values = around.summed(p)
        else:
            # Linear everywhere, and the sum in place of it where that is too far out
            origin, slope = around.near
            values = combined(p, slope)
            values += origin
            far = dot(p, p) > NEAR_M**2
            if far.any():
                values[far] = around.summed(p[far])
        return values[..., :3] + years[..., None] * values[..., 3:]


@dataclass(frozen=True, eq=False)
class _Expansion:
    """The model in the axes of one world. Columns of six hold B_W at the date [T] and its change [T/year]."""

    model: MagneticModel
    year: float
    rows: Float
    """Coefficients as `solid_harmonics.packed` arranges them."""
    p_EW: Float
    """Origin of the world in Earth-fixed axes [m], shape (3,)."""
    R_EW: Float
    """Axes of the world, shape (3, 3)."""
    near: tuple[Float, Float] | None
    """The field at the origin, shape (6,), and its slopes along x, y and z [1/m], shape (3, 6); None for `ecef`."""

    def summed(self, p_W: Float) -> Float:
        """The field at points of shape (*batch, 3) by the whole sum, shape (*batch, 6)."""
        from sensorium.physics.fields.solid_harmonics import summed

        p_E = np.ascontiguousarray((combined(p_W, self.R_EW.T) + self.p_EW).reshape(-1, 3))
        deep = dot(p_E, p_E) < _CORE_RADIUS_M**2
        if deep.any():
            i = int(deep.argmax())
            raise SpecError(
                f"p_W is {p_W.reshape(-1, 3)[i].tolist()}, {np.linalg.norm(p_E[i]) / 1e3:.1f} km from the Earth's "
                f"center; the World Magnetic Model holds outside of the core, from {_CORE_RADIUS_M / 1e3:.0f} km on"
            )
        return summed(self.rows, p_E, REFERENCE_RADIUS_M).reshape(*p_W.shape[:-1], 6)


@functools.lru_cache(maxsize=64)
def _expansion(latitude_deg: float | None, longitude_deg: float | None, height_m: float, year: float) -> _Expansion:
    """The model in a local world, or in Earth-fixed axes where there is no latitude; made once for each."""
    # Here, not above: compiled functions take a second to load, and a specification can do without them
    from sensorium.physics.fields.solid_harmonics import from_schmidt, packed, slopes, summed

    if latitude_deg is None or longitude_deg is None:
        p_EW, R_EW = np.zeros(3), np.eye(3)
    else:
        p_EW, R_EW = (
            earth_fixed_position(latitude_deg, longitude_deg, height_m),
            east_north_up(latitude_deg, longitude_deg),
        )

    # B = -grad V with V over a: the unit of length cancels. Each component is a potential of its own.
    model = model_for(year)
    age = year - model.epoch
    now = from_schmidt(model.g + age * model.g_rate, model.h + age * model.h_rate)
    rate = from_schmidt(model.g_rate, model.h_rate)
    B_E = -np.stack([slopes(now), slopes(rate)])
    B_W = np.einsum("ew,senm->swnm", R_EW, B_E).reshape(6, *B_E.shape[2:])
    rows = packed(B_W)
    if latitude_deg is None:
        return _Expansion(model, year, rows, p_EW, R_EW, None)

    # Slopes of the components are in Earth-fixed axes; those of the world are required
    origin = summed(rows, p_EW[None], REFERENCE_RADIUS_M)[0]
    along_E = packed(np.concatenate([slopes(component) for component in B_W]))
    slope = summed(along_E, p_EW[None], REFERENCE_RADIUS_M).reshape(6, 3) / REFERENCE_RADIUS_M
    return _Expansion(model, year, rows, p_EW, R_EW, (origin, np.ascontiguousarray((slope @ R_EW).T)))


def _years_since(time_ns: ArrayLike, batch: tuple[int, ...], around: _Expansion) -> Float:
    """Years since the date, or a SpecError if they do not fit the points or outlast the model."""
    years: Float = np.asarray(time_ns) / _NS_PER_YEAR
    first = last = years
    if years.ndim:
        try:
            years = np.broadcast_to(years, batch)
        except ValueError:
            raise SpecError(f"time_ns has shape {years.shape}; it must be one time, or broadcast to {batch}") from None
        if not years.size:
            return years
        first, last = years.min(), years.max()
    epoch = around.model.epoch
    if not (epoch <= around.year + first and around.year + last <= epoch + LIFE_YEARS):
        raise SpecError(
            f"time_ns leads from {around.year:.4f} to {around.year + first:.4f} .. {around.year + last:.4f}; "
            f"{around.model.name} holds from {epoch} to {epoch + LIFE_YEARS}"
        )
    return years


@functools.lru_cache(maxsize=64)
def decimal_year(date: dt.datetime | dt.date | float) -> float:
    """A date as a year with its fraction, such as 2026.5 for noon of 2 July 2026.

    Args:
        date: A day (its first instant), an instant (without time zone taken as UTC), or the decimal year itself.
    """
    if not isinstance(date, dt.date):
        return float(date)
    if not isinstance(date, dt.datetime):
        date = dt.datetime(date.year, date.month, date.day)
    utc = date.replace(tzinfo=dt.UTC) if date.utcoffset() is None else date.astimezone(dt.UTC)
    start, end = dt.datetime(utc.year, 1, 1, tzinfo=dt.UTC), dt.datetime(utc.year + 1, 1, 1, tzinfo=dt.UTC)
    return utc.year + (utc - start) / (end - start)
