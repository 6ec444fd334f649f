"""sensor_msgs/PointCloud2 of a radar's detections, and sensor_msgs/Image of its range-speed map."""

import numpy as np
from numpy.typing import NDArray

from sensorium.record.ros2.message import DeferredBytes, Message, Source, image
from sensorium.record.ros2.point_cloud import cloud_message
from sensorium.sensors.radar.reading import RadarReading

DETECTION = np.dtype(
    [
        ("x", "<f4"),
        ("y", "<f4"),
        ("z", "<f4"),
        ("range", "<f4"),
        ("range_rate", "<f4"),
        ("azimuth", "<f4"),
        ("elevation", "<f4"),
        ("power", "<f4"),
        ("snr", "<f4"),
        ("cross_section", "<f4"),
        ("object_id", "<i4"),
        ("label", "<i4"),
        ("cause", "<u4"),
    ]
)
"""One detection: position and range [m], range rate, positive if receding [m/s], angles [rad], power [dBm], SNR [dB],
cross-section [m^2]; and of the truth object, label and cause."""

_LEAST_W = 1e-30


def radar(reading: RadarReading, source: Source) -> list[tuple[int, str, Message]]:
    """One cloud a row, and one image where there is a map; the stamp is that of the sensor's clock.

    The image is 32FC1 in dBm: a column for each range cell, a row for each range rate, the fastest that recedes on top.
    """
    messages = []
    for row, frame in enumerate(source.frames):
        own = reading.row(*divmod(row, source.rig.sensors))
        cloud = cloud_message(DETECTION, int(own.valid.sum()), _packed(own), reading.time_ns, frame)
        messages.append((row, "detections", cloud))
        if own.map_W is not None:
            picture = _dBm(own.map_W)[::-1].astype("<f4")
            message = image(picture, "32FC1", stamp_ns=reading.time_ns, frame_id=frame)
            messages.append((row, "range_doppler", message))
    return messages


def _packed(reading: RadarReading) -> DeferredBytes:
    """The records of one row's detections."""
    found = reading.flat()
    out = np.zeros(len(found.valid), DETECTION)
    for axis, name in enumerate("xyz"):
        out[name] = found.points[:, axis]
    out["range"], out["range_rate"] = found.range_m, found.range_rate_m_s
    out["azimuth"], out["elevation"] = found.azimuth_rad, found.elevation_rad
    out["power"], out["snr"], out["cross_section"] = _dBm(found.power_W), found.snr_dB, found.cross_section_m2
    out["object_id"], out["label"], out["cause"] = found.object_id, found.label, found.cause
    packed = out.view(np.uint8)

    def write(place: NDArray[np.uint8]) -> None:
        place[:] = packed

    return DeferredBytes(packed.size, write)


def _dBm(
    power_W: np.ndarray[tuple[int, ...], np.dtype[np.floating]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return 10.0 * np.log10(np.maximum(power_W.astype(np.float64), _LEAST_W) / 1e-3)
