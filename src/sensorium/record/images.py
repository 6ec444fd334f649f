"""Images of cameras as PNG and TIFF files, one an image, in a folder a sensor."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.record.pictures import save_png, save_tiff
from sensorium.record.reading_files import ReadingFiles
from sensorium.sensors.camera.camera import Camera
from sensorium.sensors.camera.image import CameraImage
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.depth_camera.image import DepthImage

# Label of pixels without a hit
_NO_LABEL = 65535


class ImageRecorder(ReadingFiles[CameraImage | DepthImage]):
    """Writes each image of cameras to a file of its own, as it arrives: camera/000000.png, camera/000001.png, ...

        with sn.record.ImageRecorder("images", every=10) as recorder:
            for _ in env.run(10.0):
                recorder.record(env)

    One band is gray, three are red, green and blue; other numbers are a file each, 000000_NAME.png. Gray keeps up to 16
    bits; PNG has 8 for each color, so colors of more are cut to their upper 8. With several worlds or sensors of a
    kind there is a folder for each: world_0/camera_1. Every file appears whole or not at all.

    A depth camera's outputs are a file each: 000000_depth.tiff and 000000_range.tiff in meters (minus infinity if too
    near, infinity if too far, NaN if not measured), 000000_segmentation.png with labels of 16 bits (65535 without a
    hit), 000000_normals.png with -1 to 1 as 0 to 255, and 000000_color.png. Points, face numbers and flows are not
    images; an MCAP file has them.
    """

    def __init__(self, folder: str | PathLike[str], *, every: int = 1, sensors: Sequence[str] | None = None) -> None:
        """Begin.

        Args:
            folder: Where the folders of the cameras go; made where it does not exist.
            every: Write the first image of a camera and then every n-th; files are numbered by the image.
            sensors: Names of the cameras to record; None is all.
        """
        super().__init__((CameraImage, DepthImage), folder, every=every, sensors=sensors)

    def _save(
        self,
        sensor: AttachedSensor[Any],
        reading: CameraImage | DepthImage,
        folders: Sequence[Path],
        number: int,
    ) -> None:
        axes = len(sensor.rig.axes)
        if isinstance(reading, DepthImage):
            for name, images in reading.images.items():
                if name in _DEPTH_FILES:
                    flat = images.reshape(-1, *images.shape[axes:])
                    for folder, image in zip(folders, flat, strict=True):
                        _DEPTH_FILES[name](folder / f"{number:06d}_{name}", image, reading)
            return
        spec = sensor.spec
        assert isinstance(spec, Camera)
        images = reading.image.reshape(-1, *reading.image.shape[axes:])
        for folder, image in zip(folders, images, strict=True):
            if image.ndim == 2:
                save_png(folder / f"{number:06d}.png", image)
            elif image.shape[2] == 3:
                save_png(folder / f"{number:06d}.png", eight_bits(image, spec.bits))
            else:
                for band, name in enumerate(reading.bands):
                    save_png(folder / f"{number:06d}_{name}.png", np.ascontiguousarray(image[..., band]))


def _save_distances(path: Path, image: NDArray[Any], reading: DepthImage) -> None:
    save_tiff(path.with_suffix(".tiff"), reading.in_meters(image))


def _save_labels(path: Path, image: NDArray[Any], reading: DepthImage) -> None:
    if image.max() >= _NO_LABEL:
        raise SpecError(f"a label is {image.max()}; a PNG of 16 bits holds labels below {_NO_LABEL}")
    save_png(path.with_suffix(".png"), np.where(image < 0, _NO_LABEL, image).astype(np.uint16))


def _save_normals(path: Path, image: NDArray[Any], reading: DepthImage) -> None:
    save_png(path.with_suffix(".png"), np.rint(127.5 * (image + 1.0)).astype(np.uint8))


def _save_colors(path: Path, image: NDArray[Any], reading: DepthImage) -> None:
    save_png(path.with_suffix(".png"), image)


# Writer of each picture of a depth camera, given its path without suffix
_DEPTH_FILES = {
    "depth": _save_distances,
    "range": _save_distances,
    "segmentation": _save_labels,
    "normals": _save_normals,
    "color": _save_colors,
}


def eight_bits(image: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """The upper eight bits of an image with this many bits."""
    return (image >> max(bits - 8, 0)).astype(np.uint8)
