"""Messages of VectorNav's inertial sensors: binary output group 1, and the ASCII message VNIMU.

A binary message is FA, a byte that selects groups (here 01, the common group), a word u16 that selects its fields, the
fields in the order of their bits, and a CRC of 16 bits over all but the first byte, high byte first; the rest is
little-endian. Axes of the device are x forward, y right, z down. Source: VectorNav VN-100 User Manual (UM001), binary
and ASCII output messages.
"""

from typing import NamedTuple

import numpy as np

from sensorium.live.talkers.formats.checksums import crc_16, xor_checksum

SYNC = 0xFA
_GROUP_1 = 0x01
_HEAD, _TAIL = 4, 2

# Fields of group 1 by bit: name and numbers; units are ns, deg, rad/s, m/s^2, m, m/s, gauss, deg C, kPa, s
FIELDS = (
    ("time_startup_ns", np.dtype("<u8")),
    ("time_gps_ns", np.dtype("<u8")),
    ("time_sync_in_ns", np.dtype("<u8")),
    ("yaw_pitch_roll_deg", np.dtype(("<f4", (3,)))),
    ("quaternion_xyzw", np.dtype(("<f4", (4,)))),
    ("angular_rate", np.dtype(("<f4", (3,)))),
    ("position_lla", np.dtype(("<f8", (3,)))),
    ("velocity_ned", np.dtype(("<f4", (3,)))),
    ("acceleration", np.dtype(("<f4", (3,)))),
    ("uncompensated_acceleration_and_rate", np.dtype(("<f4", (6,)))),
    ("magnetic_temperature_pressure", np.dtype(("<f4", (5,)))),
    ("interval_delta_theta_velocity", np.dtype(("<f4", (7,)))),
    ("status", np.dtype("<u2")),
    ("sync_in_count", np.dtype("<u4")),
    ("time_gps_pps_ns", np.dtype("<u8")),
)
_BITS = {name: bit for bit, (name, _) in enumerate(FIELDS)}
_VNIMU_FIELDS = 11

Value = int | tuple[float, ...]


class VnImu(NamedTuple):
    """The ASCII message VNIMU: uncompensated measurements.

    Attributes:
        magnetic_gauss: Magnetic field [gauss].
        acceleration: Specific force [m/s^2].
        angular_rate: Angular velocity [rad/s].
        temperature_C: Temperature [deg C].
        pressure_kPa: Air pressure [kPa].
    """

    magnetic_gauss: tuple[float, ...]
    acceleration: tuple[float, ...]
    angular_rate: tuple[float, ...]
    temperature_C: float
    pressure_kPa: float


def encode(fields: dict[str, Value]) -> bytes:
    """A binary message of group 1 with these fields of `FIELDS`."""
    selected = sum(1 << _BITS[name] for name in fields)
    payload = b"".join(np.array(fields[name], dtype.base).tobytes() for name, dtype in FIELDS if name in fields)
    body = bytes((_GROUP_1,)) + selected.to_bytes(2, "little") + payload
    return bytes((SYNC,)) + body + crc_16(body).to_bytes(2, "big")


def decode(message: bytes) -> dict[str, Value] | None:
    """The fields of a complete binary message; None if it is none of group 1 alone, or its CRC is wrong."""
    if len(message) < _HEAD + _TAIL or message[0] != SYNC or message[1] != _GROUP_1 or crc_16(message[1:]):
        return None
    selected, at = int.from_bytes(message[2:4], "little"), _HEAD
    if len(message) != message_length(selected):
        return None
    fields: dict[str, Value] = {}
    for bit, (name, dtype) in enumerate(FIELDS):
        if selected >> bit & 1:
            value = np.frombuffer(message, dtype, count=1, offset=at)[0]
            fields[name] = tuple(value.tolist()) if dtype.shape else int(value)
            at += dtype.itemsize
    return fields


def message_length(selected: int) -> int:
    """Length of a message with these fields of group 1, one bit each [bytes]."""
    payload = sum(dtype.itemsize for bit, (_, dtype) in enumerate(FIELDS) if selected >> bit & 1)
    return _HEAD + payload + _TAIL


def encode_vnimu(imu: VnImu) -> bytes:
    """The ASCII message with its checksum."""
    columns = [
        *(f"{value:+08.4f}" for value in imu.magnetic_gauss),
        *(f"{value:+07.3f}" for value in imu.acceleration),
        *(f"{value:+010.6f}" for value in imu.angular_rate),
        *(f"{imu.temperature_C:+05.1f}", f"{imu.pressure_kPa:+08.3f}"),
    ]
    text = ",".join(("VNIMU", *columns)).encode("ascii")
    return b"$%s*%02X\r\n" % (text, xor_checksum(text))


def decode_vnimu(line: bytes) -> VnImu | None:
    """The measurements of a line from `$` on; None if it is no VNIMU, or its checksum is wrong."""
    text, star, checksum = line.strip().removeprefix(b"$").partition(b"*")
    name, *columns = text.split(b",")
    try:
        is_whole = star and len(checksum) == 2 and int(checksum, 16) == xor_checksum(text)
        numbers = [float(column) for column in columns]
    except ValueError:
        return None
    if not is_whole or name != b"VNIMU" or len(numbers) != _VNIMU_FIELDS:
        return None
    return VnImu(tuple(numbers[:3]), tuple(numbers[3:6]), tuple(numbers[6:9]), numbers[9], numbers[10])


def split_stream(data: bytes) -> tuple[list[bytes], bytes]:
    """Messages of a stream with right checksums, binary or VNIMU, and the rest that is not complete yet."""
    messages: list[bytes] = []
    at = 0
    while at < len(data):
        if data[at] == ord("$"):
            end = data.find(b"\n", at) + 1
            known = decode_vnimu(data[at:end]) is not None if end else None
        elif data[at] == SYNC:
            end, known = _binary_end(data, at)
        else:
            at += 1
            continue
        if known is None:
            if len(data) - at > message_length(0x7FFF):
                at += 1  # longer than any message
                continue
            return messages, data[at:]
        if known:
            messages.append(data[at:end])
        at = end if known else at + 1
    return messages, b""


def _binary_end(data: bytes, at: int) -> tuple[int, bool | None]:
    """End of the binary message that may begin here, and whether it is one; None until it is complete."""
    if len(data) < at + _HEAD:
        return 0, None
    if data[at + 1] != _GROUP_1 or data[at + 3] & 0x80:
        return 0, False
    end = at + message_length(int.from_bytes(data[at + 2 : at + 4], "little"))
    return end, None if end > len(data) else decode(data[at:end]) is not None
