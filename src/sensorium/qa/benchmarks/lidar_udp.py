"""Packets of a 128 x 1024 lidar at 20 Hz: `python -m sensorium.qa.benchmarks.lidar_udp --seconds 60`.

A simulated Ouster OS1-128 sends to a receiver on loopback, in a process of its own with large buffers. Printed are the
packets that were lost, how far from firing time plus latency each left (percentiles), and the processor time for
making packets. Exit code 1 means that a bound was missed; on a machine that others load, the times say more of them.
"""

import os
import socket
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Annotated

import numpy as np
import typer

import sensorium as sn
from sensorium.live.lidar_udp.options import OusterUdp
from sensorium.live.lidar_udp.ouster import OusterPackets
from sensorium.live.lidar_udp.sink import UdpSink

# Bounds: deviation from the firing times [s], and share of one core for making packets
P95_S, P99_S, MOST_SHARE = 1e-3, 5e-3, 0.2

_RATE_HZ, _SWEEPS_MEASURED = 20.0, 20


def environment() -> tuple[sn.Environment, sn.AttachedSensor[sn.Scan]]:
    """A lidar between walls, stepped sweep by sweep."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    scene.add(sn.shapes.box(0.3, 12.0, 4.0), pose=sn.Pose(position=(8.0, 0.0, 2.0)), label="wall")
    env = sn.Environment(scene, sn.worlds.Static(step_s=1.0 / _RATE_HZ), seed=1)
    spec = sn.Lidar.from_device("ouster-os1-128", mode="geometric", pattern={"columns": 1024, "rate_hz": _RATE_HZ})
    return env, env.attach(spec, pose=sn.Pose(position=(0.0, 0.0, 1.8)), name="top")


def making_share(scan: sn.Scan, spec: sn.Lidar) -> float:
    """Processor time for making the packets of a sweep, over the time of a sweep."""
    maker = OusterPackets(spec, OusterUdp(), name="top")
    maker.sweep(scan)
    begun_s = time.thread_time()
    for _ in range(_SWEEPS_MEASURED):
        maker.sweep(scan)
    return (time.thread_time() - begun_s) / _SWEEPS_MEASURED * _RATE_HZ


def _count(pipe: Connection) -> None:
    """Count datagrams until none came for a second; runs in a process of its own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        one.bind(("127.0.0.1", 0))
        pipe.send(one.getsockname()[1])
        one.settimeout(10.0)
        received = 0
        try:
            while one.recv(65535):
                received += 1
                one.settimeout(1.0)
        except TimeoutError:
            pipe.send(received)


def main(
    seconds: Annotated[float, typer.Option(help="Simulated and real time of the run.")] = 60.0,
    latency: Annotated[
        float | None, typer.Option(help="Latency of packets [s]; with a long one a run that falls behind delays none.")
    ] = None,
) -> None:
    """Run, print the figures, and fail if a bound is missed."""
    env, lidar = environment()
    env.run(duration_s=0.2).finish()
    share = making_share(lidar.read(), lidar.spec)  # type: ignore[arg-type]
    ours, theirs = get_context("spawn").Pipe()
    receiver = get_context("spawn").Process(target=_count, args=(theirs,), daemon=True)
    receiver.start()
    sink = sn.live.open_sink(
        "udp", sensors={"top": {"kind": "ouster", "lidar_port": ours.recv(), "latency_s": latency}}
    )
    assert isinstance(sink, UdpSink)
    env.run(duration_s=seconds, realtime=True, live=[sink]).finish()
    received = ours.recv()
    receiver.join(5.0)
    assert sink.sender is not None
    counts, deviation_s = sink.sender.counts(), np.abs(sink.sender.deviations_s())
    p50_s, p95_s, p99_s, most_s = np.percentile(deviation_s, [50, 95, 99, 100])
    print(f"load of the machine          {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    share_received = f"{received / counts.sent:.2%}"
    print(f"packets sent, received       {counts.sent:,}, {received:,} ({share_received}), {counts.late:,} late")
    times = ", ".join(f"{1e3 * each:.3f}" for each in (p50_s, p95_s, p99_s, most_s))
    print(f"deviation p50, p95, p99, max {times} ms")
    print(f"making packets               {share:.1%} of one core")
    if received < counts.sent or p95_s > P95_S or p99_s > P99_S or share > MOST_SHARE:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
