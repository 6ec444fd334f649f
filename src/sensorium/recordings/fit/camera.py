"""A data sheet of a camera's chip from its EMVA 1288 image set."""

from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.recordings.fit.fitted import Fitted, estimate, fitted, held_figures, of_figure, value
from sensorium.recordings.measure.camera import measure_camera, photon_transfer
from sensorium.recordings.readers.emva1288 import ImageGroup, ImageSet

# Values of a sheet by the quantities that they are measured as, with their units
_MEASURED = {
    "saturation": ("full_well", "e-"),
    "system_gain": ("system_gain", "DN/e-"),
    "dark_noise": ("dark_noise", "e-"),
    "dark_current": ("dark_current.from_mean", "e-/s"),
    "dsnu": ("dsnu", "e-"),
    "prnu": ("prnu", "1"),
    "quantum_efficiency": ("quantum_efficiency", "1"),
    "threshold_photons": ("threshold", "1"),
    "dynamic_range": ("dynamic_range", "dB"),
}

_HELD = ("system_gain", "quantum_efficiency", "dark_noise", "full_well", "dsnu", "prnu")
_NOT_SHOWN = "Not in an image set."
_LEAST_OF_GROUP = 2


def fit_camera(images: ImageSet, *, hold_out: bool = True) -> Fitted:
    """Fit a sheet to every second exposure, and hold it against those between.

    The quantum efficiency is that of the light of the set, whose wavelength no set states: it is taken for all.

    Args:
        images: An image set.
        hold_out: False fits it to all images.
    """
    used, rest = halves(images) if hold_out else (images, None)
    measurement = measure_camera(used)
    if not measurement.of("full_well"):
        raise SpecError(f"{measurement.source!r} has no saturated images; a sheet needs the full well")
    values: dict[str, Any] = {
        "columns": value(images.width, "1", "size of the images"),
        "rows": value(images.height, "1", "size of the images"),
        "pixel_pitch": estimate(5.0, "um", _NOT_SHOWN),
        "exposure": value(1e3 * max(group.exposure_s for group in images.bright), "ms", "longest exposure"),
        "focal_length": estimate(8.0, "mm", "The chip was measured without a lens."),
        "f_number": estimate(4.0, "1", "The chip was measured without a lens."),
        "focused_at": estimate(5.0, "m", "The chip was measured without a lens."),
        "wavelength": estimate([400.0, 700.0], "nm", _NOT_SHOWN),
    }
    efficiency = measurement.figure("quantum_efficiency").value
    values["gray"] = value([efficiency] * 2, "1", "quantum_efficiency", note="Of one light, taken for all.")
    values["adc_bits"] = value(images.bits, "1", "bits of a pixel")
    transfer = photon_transfer(used)
    black_dn = float(np.interp(0.0, transfer.exposure_s, transfer.dark_mean))
    values["black_level"] = value(max(black_dn, 0.0), "DN", "mean in the dark at the shortest exposure")
    for name, (quantity, unit) in _MEASURED.items():
        for figure in measurement.of(quantity):
            if figure.value >= 0.0:
                values[name] = of_figure(figure._replace(low=max(figure.low, 0.0)), unit, 1.0)
    other = None if rest is None else measure_camera(rest)
    head = {"kind": "camera", "model": measurement.source, "description": "chip, as measured in its image set"}
    held = held_figures(measurement, other, _HELD)
    return fitted(head, values, measurement, held_out=held, is_whole=not hold_out, remarks=measurement.remarks)


def halves(images: ImageSet) -> tuple[ImageSet, ImageSet | None]:
    """Every second exposure from the first, and those between; of too few all, and None."""
    parts = tuple(
        images._replace(bright=_every_second(images.bright, part), dark=_every_second(images.dark, part))
        for part in (0, 1)
    )
    try:
        for part in parts:
            photon_transfer(part)
    except SpecError:
        return images, None
    return parts[0], parts[1]


def _every_second(groups: tuple[ImageGroup, ...], part: int) -> tuple[ImageGroup, ...]:
    """Every second pair by exposure; of larger groups every second image."""
    ordered = sorted(groups, key=lambda group: (group.photons, group.exposure_s))
    pairs = [group for group in ordered if len(group.images) == _LEAST_OF_GROUP]
    larger = [group for group in ordered if len(group.images) >= 2 * _LEAST_OF_GROUP]
    return (*pairs[part::2], *(group._replace(images=group.images[part::2], missing=0) for group in larger))
