"""Runs with Ouster's SDK in an environment of its own: receives frames, and writes what the SDK decodes as NPZ.

Arguments: metadata (JSON), number of frames, output. The SDK listens on the ports of the metadata.
"""

import sys
import time

import numpy as np
from ouster.sdk import core, sensor
from ouster.sdk._bindings.client import Sensor

metadata, frames, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(metadata) as file:
    info = core.SensorInfo(file.read())
source = sensor.SensorPacketSource([Sensor("127.0.0.1", info.config)], [info], 5.0, 0.0)
print("ready", flush=True)

batcher, frame, lut = core.FrameBatcher(info), core.LidarFrame(info), core.XYZLut(info, use_extrinsics=False)
to_lidar = np.linalg.inv(np.asarray(info.lidar_to_sensor_transform))
found = {name: [] for name in ("frame", "range", "range_2", "reflectivity", "xyz", "time_ns", "there")}
imu, packets, wrong = [], 0, 0
end = time.monotonic() + 20.0
while len(found["frame"]) < frames and time.monotonic() < end:
    event = source.get_packet(0.2)
    if "Packet" not in str(event.type):
        continue
    packet = event.packet()
    if isinstance(packet, core.ImuPacket):
        form = core.PacketFormat(info)
        imu.append([form.imu_gyro_ts(packet.buf), form.imu_la_z(packet.buf), form.imu_av_z(packet.buf)])
        continue
    packets += 1
    wrong += packet.validate(info) != core.PacketValidationFailure.NONE
    if batcher.batch(packet, frame):
        xyz = lut(frame).reshape(*frame.field(core.ChanField.RANGE).shape, 3)
        found["xyz"].append((xyz - np.linalg.inv(to_lidar)[:3, 3] / 1000.0) @ to_lidar[:3, :3].T)
        found["frame"].append(frame.frame_id)
        found["range"].append(frame.field(core.ChanField.RANGE).copy())
        second = core.ChanField.RANGE2 in frame.fields
        found["range_2"].append(frame.field(core.ChanField.RANGE2).copy() if second else np.zeros(0))
        found["reflectivity"].append(frame.field(core.ChanField.REFLECTIVITY).copy())
        found["time_ns"].append(frame.timestamp.copy())
        found["there"].append((frame.status & 1).astype(bool))
        frame = core.LidarFrame(info)
np.savez(output, imu=np.array(imu), count=packets, wrong=wrong, **{k: np.array(v) for k, v in found.items() if v})
