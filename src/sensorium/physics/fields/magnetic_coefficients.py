"""The World Magnetic Model's coefficients, from the files of pygeomag."""

import functools
from dataclasses import dataclass
from datetime import date, datetime
from importlib import resources

import numpy as np

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.core.rotations import Float

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
