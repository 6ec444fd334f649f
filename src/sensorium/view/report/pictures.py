"""Images of the report: the last of each camera and ray sensor, and detections of radars."""

import base64
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.record.images import eight_bits
from sensorium.sensors.camera.image import CameraImage
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.sensors.radar.reading import RadarReading
from sensorium.sensors.ray_sensor.ray_sensor import RayReading
from sensorium.view.depth_pictures import depth_picture
from sensorium.view.lidar_plots import canvas, frame, key
from sensorium.view.radar_plots import over_time, range_doppler

if TYPE_CHECKING:
    from matplotlib.figure import Figure


R = TypeVar("R")

_PNG = "data:image/png;base64,"
_FIGURE_DPI = 95

# A larger image is shown by every so-manieth pixel, so that a page stays light
_MOST_COLUMNS = 960

# Tables of few values are drawn this wide at least, each value a square [px]
_TABLE_COLUMNS = 320


class _LastRecord(Generic[R]):
    """Keeps the last reading of a sensor."""

    def __init__(self, sensor: AttachedSensor[Any]) -> None:
        self._sensor = sensor
        self._last: R | None = None
        self.readings = 0

    def add(self, reading: R) -> None:
        """One more reading."""
        self._last = reading
        self.readings += 1


class PictureRecord(_LastRecord[CameraImage]):
    """Keeps the last image of a camera."""

    def images(self) -> list[dict[str, str]]:
        """The last image, of the first world and sensor; of many bands the first."""
        if self._last is None:
            return []
        axes = len(self._sensor.rig.axes)
        pixels = self._last.image.reshape(-1, *self._last.image.shape[axes:])[0]
        if pixels.ndim == 3 and pixels.shape[2] != 3:
            pixels = pixels[..., 0]
        step = -(-pixels.shape[1] // _MOST_COLUMNS)
        shown = eight_bits(pixels[::step, ::step], getattr(self._sensor.spec, "bits", 8))
        words = f"Image whose exposure ended at {self._last.end_ns * 1e-9:.3f} s"
        return [{"sensor": self._sensor.name, "words": words, "address": _address(shown)}]


class DepthRecord(_LastRecord[DepthImage]):
    """Keeps the last image of a depth camera."""

    def images(self, labels: Mapping[str, int]) -> list[dict[str, str]]:
        """The outputs of the last image that are pictures, of the first world and sensor."""
        if self._last is None:
            return []
        image, axes, found = self._last, len(self._sensor.rig.axes), []
        for name, every in image.images.items():
            pixels = every.reshape(-1, *every.shape[axes:])[0]
            step = -(-pixels.shape[1] // _MOST_COLUMNS)
            shown = depth_picture(image, name, pixels[::step, ::step], labels)
            if shown is not None:
                words = f"{name.replace('_', ' ').capitalize()} at {image.start_ns * 1e-9:.3f} s"
                found.append({"sensor": self._sensor.name, "words": words, "address": _address(shown)})
        return found


class TableRecord(_LastRecord[tuple[RayReading, RayReading]]):
    """Keeps the last table of values of a user-defined ray sensor, with its truth."""

    def images(self) -> list[dict[str, str]]:
        """The last table beside its truth, of the first world and sensor; bright is little."""
        from matplotlib import colormaps

        if self._last is None:
            return []
        shape = self._last[0].shape
        measured, true = (one.values.reshape(-1, *shape)[0].reshape(-1, shape[-1]) for one in self._last)
        known = np.concatenate([measured[np.isfinite(measured)], true[np.isfinite(true)], np.zeros(0)])
        low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
        gap = np.full((len(true), 1), np.nan)
        share = 1.0 - (np.concatenate([measured, gap, true], axis=1) - low) / max(high - low, 1e-12)
        colors = np.round(255.0 * colormaps["viridis"](np.nan_to_num(share, posinf=1.0, neginf=0.0))[..., :3])
        colors[:, shape[-1]] = 255.0
        side = max(1, _TABLE_COLUMNS // share.shape[1])
        shown = colors.astype(np.uint8).repeat(side, axis=0).repeat(side, axis=1)
        reading = self._last[0]
        words = f"Values at {reading.time_ns * 1e-9:.3f} s, {low:.3g} to {high:.3g} {reading.unit}; right, the truth"
        return [{"sensor": self._sensor.name, "words": words, "address": _address(shown)}]


def _address(pixels: NDArray[np.uint8]) -> str:
    """A picture as an address that holds it all."""
    # Here, not above: it is slow to load
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, format="PNG")
    return _PNG + base64.b64encode(buffer.getvalue()).decode("ascii")


def figure_address(figure: "Figure") -> str:
    """The same for a figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_FIGURE_DPI, facecolor=figure.get_facecolor(), metadata={})
    return _PNG + base64.b64encode(buffer.getvalue()).decode("ascii")


# Of more detections every so-manieth is shown, so that a report of any run stays light
_MOST = 20_000


class DetectionRecord:
    """Detections of one attached radar in the first world, of the first of several sensors."""

    def __init__(self, sensor: AttachedSensor[Any]) -> None:
        self._sensor = sensor
        self._kept: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []
        self._last: RadarReading | None = None
        self._every, self._seen = 1, 0
        self.readings = 0

    def add(self, reading: RadarReading) -> None:
        """One more frame."""
        self.readings += 1
        self._last = reading.row(0, 0)
        found = self._last.flat()
        rows = np.column_stack(
            [np.full(len(found.range_m), reading.end_ns * 1e-9), found.range_m, found.range_rate_m_s]
        )
        number = self._seen + np.arange(len(rows))
        self._seen += len(rows)
        self._kept.append(rows[number % self._every == 0])
        if sum(map(len, self._kept)) > 2 * _MOST:
            self._kept = [np.concatenate(self._kept)[::2]]
            self._every *= 2

    def images(self) -> list[dict[str, str]]:
        """Pictures of the run."""
        if self._last is None:
            return []
        figure, (axes,) = canvas(9.6, 3.6)
        time_s, range_m, rate_m_s = np.concatenate(self._kept).T if self._kept else np.zeros((3, 0))
        frame(axes, f"{self._sensor.name}: detections", "time [s]", "range [m]")
        over_time(figure, axes, time_s, range_m, rate_m_s)
        words = f"Detections of the run, {self._seen:,} in {self.readings:,} frames"
        found = [{"sensor": self._sensor.name, "words": words, "address": figure_address(figure)}]
        if self._last.map_W is not None:
            figure, (axes,) = canvas(9.6, 4.4)
            range_doppler(figure, axes, self._last, title=f"{self._sensor.name}: range and speed")
            if self._last.valid.any():
                key(axes, where="upper right")
            words = f"Range-speed map of the frame that ended at {self._last.end_ns * 1e-9:.3f} s"
            found.append({"sensor": self._sensor.name, "words": words, "address": figure_address(figure)})
        return found
