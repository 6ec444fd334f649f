"""Images of cameras as PNG files, one an image, in a folder a sensor."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.record.png import save_png
from sensorium.record.reading_files import ReadingFiles
from sensorium.sensors.attached import AttachedSensor
from sensorium.sensors.camera import Camera
from sensorium.sensors.camera_image import CameraImage


class ImageRecorder(ReadingFiles[CameraImage]):
    """Writes each image of cameras to a file of its own, as it arrives: camera/000000.png, camera/000001.png, ...

        with sn.record.ImageRecorder("images", every=10) as recorder:
            for _ in env.run(10.0):
                recorder.record(env)

    One band is grey, three are red, green and blue; other numbers are a file each, 000000_NAME.png. Grey keeps up to 16
    bits; PNG has 8 for each colour, so colours of more are cut to their upper 8. With several worlds or sensors of a
    kind there is a folder for each: world_0/camera_1. Every file appears whole or not at all.
    """

    def __init__(self, folder: str | PathLike[str], *, every: int = 1, sensors: Sequence[str] | None = None) -> None:
        """Begin.

        Args:
            folder: Where the folders of the cameras go; made where it does not exist.
            every: Write the first image of a camera and then every so manyth; files are numbered by the image.
            sensors: Names of the cameras to record; None is all.
        """
        super().__init__(CameraImage, folder, every=every, sensors=sensors)

    def _save(self, sensor: AttachedSensor[Any], reading: CameraImage, folders: Sequence[Path], number: int) -> None:
        spec = sensor.spec
        assert isinstance(spec, Camera)
        images = reading.image.reshape(-1, *reading.image.shape[len(sensor.rig.axes) :])
        for folder, image in zip(folders, images, strict=True):
            if image.ndim == 2:
                save_png(folder / f"{number:06d}.png", image)
            elif image.shape[2] == 3:
                save_png(folder / f"{number:06d}.png", eight_bits(image, spec.bits))
            else:
                for band, name in enumerate(reading.bands):
                    save_png(folder / f"{number:06d}_{name}.png", np.ascontiguousarray(image[..., band]))


def eight_bits(image: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """The upper eight bits of an image of so many."""
    return (image >> max(bits - 8, 0)).astype(np.uint8)
