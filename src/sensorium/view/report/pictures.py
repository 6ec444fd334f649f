"""Images of cameras in the report: the last of each."""

import base64
import io
from typing import Any

import numpy as np

from sensorium.record.images import eight_bits
from sensorium.sensors.attached import AttachedSensor
from sensorium.sensors.camera_image import CameraImage

# A larger image is shown by every so-manieth pixel, so that a page stays light
_MOST_COLUMNS = 960


class PictureRecord:
    """Keeps the last image of a camera."""

    def __init__(self, sensor: AttachedSensor[Any]) -> None:
        self._sensor = sensor
        self._last: CameraImage | None = None
        self.readings = 0

    def add(self, image: CameraImage) -> None:
        """One more image."""
        self._last = image
        self.readings += 1

    def images(self) -> list[dict[str, str]]:
        """The last image, of the first world and sensor; of many bands the first."""
        # Here, not above: it is slow to load
        from PIL import Image

        if self._last is None:
            return []
        axes = len(self._sensor.rig.axes)
        pixels = self._last.image.reshape(-1, *self._last.image.shape[axes:])[0]
        if pixels.ndim == 3 and pixels.shape[2] != 3:
            pixels = pixels[..., 0]
        step = -(-pixels.shape[1] // _MOST_COLUMNS)
        shown = eight_bits(pixels[::step, ::step], getattr(self._sensor.spec, "bits", 8))
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(shown)).save(buffer, format="PNG")
        address = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
        words = f"Image whose exposure ended at {self._last.end_ns * 1e-9:.3f} s"
        return [{"sensor": self._sensor.name, "words": words, "address": address}]
