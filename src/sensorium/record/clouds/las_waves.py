"""Wave packets of LAS 1.4: the samples around returns, in a file beside the points.

The points have format 9: each has the offset of its pulse's samples in the .wdp file, and its time after the first of
them. A record of the header (a wave packet descriptor) says how samples are stored. Positions along a pulse are P(t) =
P + (location - t) d, with t in picoseconds from the first sample and the vector d towards the sensor, as in LAStools
and in files of RIEGL; the standard leaves the sign open. Ref: ASPRS, LAS Specification 1.4 R15, 2.6 (point format 9),
2.7 (descriptors), waveform data packets.
"""

import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.files.atomic import replacing
from sensorium.sensors.lidar.scan import Scan

# Header of the .wdp file, that of an extended variable length record: reserved, user, record, length, description
PACKETS_HEADER = struct.Struct("<H16sHQ32s")
USER, _PACKETS, FIRST_DESCRIPTOR = b"LASF_Spec", 65535, 100

# A descriptor: bits of a sample, compression, samples, picoseconds between them, gain and offset of the digitizer
DESCRIPTOR = struct.Struct("<BBIIdd")
_BITS = 16
_STEPS = 2**_BITS - 1
_PS = 1e-12


class WavePackets(NamedTuple):
    """The kept samples of a scan as LAS has them.

    Attributes:
        descriptor: Record 100 of user LASF_Spec, which says how samples are stored.
        of_points: Dimensions of point format 9 by laspy's names, for each return in the order of `Scan.flat()`.
        samples: Of each pulse that has a return, shape (pulses, bins); value = gain sample + offset.
    """

    descriptor: bytes
    of_points: dict[str, NDArray[Any]]
    samples: NDArray[np.uint16]

    def write(self, path: Path) -> None:
        """Write the .wdp file; one that exists is replaced."""
        description = b"Waveform Data Packets"
        with replacing(path) as file:
            file.write(PACKETS_HEADER.pack(0, USER, _PACKETS, self.samples.nbytes, description))
            file.write(self.samples.tobytes())


def wave_packets(scan: Scan) -> WavePackets | None:
    """Wave packets of a scan of one sensor in one world; None where it has no samples.

    Samples are rounded to 16 bits between the least and the greatest of them. Pulses without a return have no point to
    refer to them and are left out.
    """
    waveform = scan.waveform
    if waveform is None:
        return None
    spacing_ps = waveform.resolution_s / _PS
    if abs(spacing_ps - round(spacing_ps)) > 1e-6 * spacing_ps or not 1 <= round(spacing_ps) < 2**32:
        raise SpecError(
            f"waveform.resolution_s is {waveform.resolution_s:g}; LAS files have bins of whole picoseconds, or no "
            "samples: waveform.keep=False"
        )

    # Pulses with returns, and which of them each return belongs to
    bins, at = waveform.samples.shape[-1], np.flatnonzero(scan.valid)
    rays = scan.range_m.shape[-2] * scan.range_m.shape[-1]
    pulse, packet = np.unique(at % rays, return_inverse=True)
    values = waveform.samples.reshape(rays, bins)[pulse].astype(np.float64)
    least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    gain = (most - least) / _STEPS if most > least else 1.0
    size = bins * _BITS // 8

    # From each return towards the sensor, as far as light comes in a picosecond there and back
    points = scan.points[scan.valid].astype(np.float64)
    origin = np.zeros(3)
    if scan.frame == "world":
        origin = scan.pose(np.broadcast_to(scan.start_ns + scan.offset_ns, scan.range_m.shape)[scan.valid]).position
    way = origin - points
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    way *= 0.5 * SPEED_OF_LIGHT_M_S * _PS / waveform.index / np.where(length > 0.0, length, 1.0)
    delay_s = scan.range_m[scan.valid].astype(np.float64) * (2.0 * waveform.index / SPEED_OF_LIGHT_M_S)
    first_s = waveform.start_s + 0.5 * waveform.resolution_s  # a sample is the mean of its bin
    return WavePackets(
        DESCRIPTOR.pack(_BITS, 0, bins, round(spacing_ps), gain, least),
        {
            "wavepacket_index": np.ones(len(at), np.uint8),
            "wavepacket_offset": (PACKETS_HEADER.size + size * packet).astype(np.uint64),
            "wavepacket_size": np.full(len(at), size, np.uint32),
            "return_point_wave_location": ((delay_s - first_s) / _PS).astype(np.float32),
            **{f"{axis}_t": way[:, k].astype(np.float32) for k, axis in enumerate("xyz")},
        },
        np.rint((values - least) / gain).astype("<u2"),
    )


def describe(header: Any, packets: WavePackets) -> None:
    """Put the descriptor into the header of a file of laspy's, and that samples are in a file of their own."""
    from laspy.vlrs.known import WaveformPacketVlr

    record = WaveformPacketVlr(FIRST_DESCRIPTOR, description="Sensorium")
    record.parse_record_data(packets.descriptor)
    header.vlrs.append(record)
    header.global_encoding.waveform_data_packets_external = True
