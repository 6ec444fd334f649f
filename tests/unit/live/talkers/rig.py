"""A small vehicle with the sensors that talkers send, and a way to run it."""

import socket
import threading
from contextlib import contextmanager

import sensorium as sn

ORIGIN = (48.1, 11.6, 520.0)


def vehicle(*, sensors=("gnss", "imu", "barometer"), step_s=0.02, imu_hz=100.0, outputs=None, gnss=None, worlds=None):
    """An environment whose car drives north-east in a circle, x east and y north, 30 m above the sea."""
    path = sn.paths.Circle(center=(0, 0, 30.0), radius=20.0, rate=0.4)
    world = sn.worlds.Kinematic({"car": path}, step_s=step_s)
    field = sn.fields.UniformMagnetic((1e-6, 2.1e-5, -4.3e-5))
    env = sn.Environment(sn.Scene(), world, magnetic=field, worlds=worlds, seed=29)
    made = {
        "gnss": sn.Gnss(
            timing=sn.Timing(rate_hz=5.0),
            **{"origin": ORIGIN, "hdop": 1.1, "vdop": 1.7, "uere_m": 1.0, **(gnss or {})},
        ),
        "imu": sn.Imu(
            timing=sn.Timing(rate_hz=imu_hz),
            magnetic={},
            outputs=outputs,
            linear={"noise": {"std": 0.05}},
            angular={"noise": {"std": 0.01}},
        ),
        "barometer": sn.Barometer(timing=sn.Timing(rate_hz=50.0), noise={"std": 5.0}),
        "magnetometer": sn.Magnetometer(timing=sn.Timing(rate_hz=50.0)),
    }
    for name in sensors:
        env.attach(made[name], body="car", name=name)
    return env


def run_and_keep(env, sinks, *, duration_s=1.0, realtime=False):
    """Run it to the end; all readings by sensor, in their order."""
    kept = {name: [] for name in env.sensors}
    for _ in env.run(duration_s, realtime=realtime, live=sinks):
        for name, sensor in env.sensors.items():
            kept[name] += sensor.readings()
    return kept


@contextmanager
def datagrams():
    """A bound UDP port, and a list that fills with what arrives there."""
    received, ended = [], threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.05)

        def listen():
            while True:
                try:
                    received.append(receiver.recv(65536))
                except TimeoutError:
                    if ended.is_set():
                        return

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield receiver.getsockname()[1], received
        finally:
            ended.set()
            thread.join()


def live_threads():
    """Threads of live sinks that run now."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("sensorium-live")]
