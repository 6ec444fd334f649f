"""Runs with velodyne-decoder in an environment of its own: receives data packets, and writes what it decodes as NPZ.

Arguments: port, position port, model, number of packets, output.
"""

import socket
import sys
import time

import numpy as np
import velodyne_decoder as vd

port, position_port, model, count, output = (
    int(sys.argv[1]),
    int(sys.argv[2]),
    sys.argv[3],
    int(sys.argv[4]),
    sys.argv[5],
)


def listening(port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    one.bind(("127.0.0.1", port))
    one.settimeout(0.5)
    return one


data, position = listening(port), listening(position_port)
print("ready", flush=True)
packets, end = [], time.monotonic() + 20.0
while len(packets) < count and time.monotonic() < end:
    try:
        packets.append(data.recv(2000))
    except TimeoutError:
        continue
position.settimeout(2.0)
sentences, hour_us = [], []
try:
    while True:
        telemetry = vd.TelemetryPacket(position.recv(2000))
        position.settimeout(0.1)
        sentences.append(telemetry.nmea_sentence)
        hour_us.append(telemetry.usec_since_toh)
        parsed = telemetry.parse_nmea()
        sentences[-1] += f"|{parsed.longitude}|{parsed.latitude}"
except TimeoutError:
    pass
decoder = vd.ScanDecoder(vd.Config(model=getattr(vd.Model, model), min_range=0.0, max_range=300.0))
vector = vd.PacketVector()
for k, packet in enumerate(packets):
    vector.append(vd.VelodynePacket(1000.0 + 0.001 * k, packet))
_, points = decoder.decode(vector, as_pcl_structs=True)
np.savez(
    output,
    packets=np.array([np.frombuffer(packet, np.uint8) for packet in packets]),
    sentences=np.array(sentences),
    hour_us=np.array(hour_us),
    **{name: points[name] for name in points.dtype.names},
)
