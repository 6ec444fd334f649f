"""A simulated chip measured by EMVA 1288: as many images of the same exposures and photons as the real set."""

from collections.abc import Sequence

from sensorium.core.errors import SpecError
from sensorium.devices import CameraSheet, Device
from sensorium.recordings.compare.comparison import Comparing
from sensorium.recordings.fit.camera import halves
from sensorium.recordings.measure.camera import measure_camera
from sensorium.recordings.readers.emva1288 import ImageSet
from sensorium.recordings.simulate.emva1288 import simulated_like
from sensorium.sensors.camera.camera import Camera


def simulate_images(device: Device, images: ImageSet, seed: int) -> tuple[ImageSet, Sequence[str]]:
    """The set of a camera with the pixels, converter and noise of a device, and of the recorded size."""
    assert isinstance(device.sheet, CameraSheet)
    efficiency = device.sheet.number("quantum_efficiency")
    if efficiency is None:
        raise SpecError(f"device {device.name!r} states no quantum_efficiency; photons of an image set need one")
    camera = Camera.from_device(device.path)
    how = "the simulated chip saw the same photons for the same times, without a lens"
    return simulated_like(images, camera, quantum_efficiency=efficiency, seed=seed), (how,)


compare_camera = Comparing(
    kind="camera",
    measure=measure_camera,
    halves=halves,
    samples="exposures",
    simulate=simulate_images,
    tolerances={
        "system_gain": 0.02,
        "responsivity": 0.02,
        "quantum_efficiency": 0.02,
        "dark_noise": 0.02,
        "full_well": 0.02,
        "saturation_capacity": 0.1,
        "dark_current.from_mean": 0.1,
        "threshold": 0.02,
        "dynamic_range": 0.02,
        "dsnu": 0.2,
        "prnu": 0.1,
    },
)
"""By the standard's own figures; linearity and unevenness above the high pass are not modeled."""
