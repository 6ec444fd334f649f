"""A simulated EMVA 1288 image set: descriptor and images of a camera whose figures are known.

Exposure times rise in equal steps under constant light, up to 10 % beyond saturation: pairs of bright and of dark
images, then images for nonuniformity at half of saturation and in the dark. Saturation is the full well, or the top of
the converter where that is lower. The code of darkness is raised to six deviations of the dark signal where it is
below, as the standard sets the offset of a camera for a measurement (6.5), so that no noise in the dark is cut off.
"""

import math
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.random import Stream
from sensorium.record.pictures import save_png
from sensorium.recordings.readers.emva1288 import DESCRIPTOR, ImageGroup, ImageSet, write_descriptor
from sensorium.sensors.camera.camera import Adc, Camera
from sensorium.sensors.camera.flat_fields import FlatFields

_BEYOND = 1.1
_DARK_DEVIATIONS = 6.0


def saturation_e(camera: Camera) -> float:
    """Electrons at which the images of a camera are saturated: its full well, or less where the converter is full."""
    adc = _adc(camera)
    if adc.gain_dn_e is None:
        return camera.full_well_e
    return min(camera.full_well_e, (2**adc.bits - 1 - adc.black_dn) / adc.gain_dn_e)


def simulate_emva1288(
    folder: str | PathLike[str],
    camera: Camera,
    *,
    quantum_efficiency: float,
    exposures: int = 50,
    uniformity_images: int = 16,
    longest_exposure_s: float = 0.014,
    seed: int = 0,
) -> Path:
    """Write the set of a camera into a folder, which is made.

    Args:
        folder: Where; it must not have a descriptor yet.
        camera: Its pixels, converter and noise are used, without its lens.
        quantum_efficiency: Electrons for each photon.
        exposures: Number of exposure times, at least 8.
        uniformity_images: Bright and dark images for DSNU and PRNU, at least 2.
        longest_exposure_s: Of the brightest images [s].
        seed: Of all randomness.

    Returns:
        The descriptor.
    """
    if not 0.0 < quantum_efficiency <= 1.0:
        raise SpecError(f"quantum_efficiency is {quantum_efficiency}; it must be above 0 and at most 1")
    if exposures < 8 or uniformity_images < 2:
        raise SpecError(f"exposures is {exposures} and uniformity_images {uniformity_images}; they must be 8 and 2")
    folder, adc = Path(folder), _adc(camera)
    descriptor = folder / DESCRIPTOR
    if descriptor.exists():
        raise SpecError(f"folder is {str(folder)!r}, which has a set already; it must be new")
    (folder / "images").mkdir(parents=True, exist_ok=True)
    fields = _chip(camera, (camera.rows, camera.columns), seed)
    top_photons, tick, groups = _BEYOND * saturation_e(camera) / quantum_efficiency, 0, []

    def add(kind: str, share: float, name: str, count: int) -> None:
        nonlocal tick
        photons, exposure_s = share * top_photons if kind == "b" else 0.0, share * longest_exposure_s
        paths = []
        for k in range(count):
            codes = fields.codes(quantum_efficiency * photons, exposure_s=exposure_s, tick=tick)
            paths.append(folder / "images" / f"{kind}_{name}_snap_{k + 1:03d}.png")
            save_png(paths[-1], codes)
            tick += 1
        groups.append((kind, ImageGroup(exposure_s, photons, tuple(paths))))

    for kind in "bd":
        for number in range(exposures):
            add(kind, (number + 1) / exposures, f"{number:03d}", 2)
    for kind in "bd":
        add(kind, 0.5 / _BEYOND, "s_000", uniformity_images)
    write_descriptor(descriptor, bits=adc.bits, width=camera.columns, height=camera.rows, groups=groups)
    return descriptor


class SimulatedImages(ImageSet):
    """An image set of a simulated chip, whose images are made when they are read."""

    chip: FlatFields
    electrons: float
    """For each photon."""

    def read(self, path: Path) -> NDArray[np.uint16]:
        """Pixels of an image, shape (height, width); its number among all of the set keys its noise."""
        groups = [(group, image) for group in (*self.bright, *self.dark) for image in group.images]
        tick = next(number for number, (_, image) in enumerate(groups) if image == path)
        group = groups[tick][0]
        codes = self.chip.codes(self.electrons * group.photons, exposure_s=group.exposure_s, tick=tick)
        return codes.astype(np.uint16)


def simulated_like(images: ImageSet, camera: Camera, *, quantum_efficiency: float, seed: int = 0) -> SimulatedImages:
    """As many images of the same exposures and photons as a set has, of a camera's chip of the same size.

    Args:
        images: A set; none of its images is read.
        camera: Its pixels, converter and noise are used, without its lens.
        quantum_efficiency: Electrons for each photon.
        seed: Of all randomness.
    """
    made = SimulatedImages(*images._replace(bits=_adc(camera).bits))
    made.chip, made.electrons = _chip(camera, (images.height, images.width), seed), quantum_efficiency
    return made


def _chip(camera: Camera, shape: tuple[int, int], seed: int) -> FlatFields:
    """The evenly lit chip of a camera, of any size."""
    if camera.noise is None:
        raise SpecError("noise of the camera is None; a set to measure noise from must have it")
    stream = Stream(seed, "emva1288")
    return FlatFields(camera.noise, _adc(camera), full_well_e=camera.full_well_e, shape=shape, stream=stream)


def _adc(camera: Camera) -> Adc:
    """The converter, with darkness high enough for its noise."""
    adc = camera.adc if camera.adc is not None else Adc(bits=camera.bits)
    if camera.noise is None:
        return adc
    gain = adc.gain_dn_e if adc.gain_dn_e is not None else (2**adc.bits - 1) / camera.full_well_e
    least = math.ceil(_DARK_DEVIATIONS * gain * math.hypot(camera.noise.read_noise_e, camera.noise.dsnu_e))
    return Adc(bits=adc.bits, gain_dn_e=adc.gain_dn_e, black_dn=max(adc.black_dn, float(least)))
