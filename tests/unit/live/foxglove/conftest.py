"""An environment that has all that a server shows, and a bare client of its protocol."""

import json
import struct
import time
from contextlib import ExitStack

import pytest
from websockets.sync.client import connect

import sensorium as sn


class Client:
    """A client of foxglove.sdk.v1 that knows nothing of this library."""

    def __init__(self, port, topics=None):
        url = f"ws://127.0.0.1:{port}"
        protocols, self._open = ["foxglove.sdk.v1"], ExitStack()
        options = {"max_size": None, "compression": None, "proxy": None, "close_timeout": 0.2}
        connection = connect(url, subprotocols=protocols, **options)
        self.socket = self._open.enter_context(connection)
        self.wanted, self.channels, self.control, self.messages, self.services = topics, {}, [], [], {}

    def read(self, until, timeout_s=20.0):
        """Receive until a condition holds."""
        ends_s = time.monotonic() + timeout_s
        while not until():
            left_s = ends_s - time.monotonic()
            assert left_s > 0, (self.channels.keys(), [told["op"] for told in self.control], len(self.messages))
            try:
                frame = self.socket.recv(timeout=min(left_s, 0.02))
            except TimeoutError:
                continue
            if isinstance(frame, bytes):
                self._binary(frame)
            else:
                self._text(json.loads(frame))

    def ask(self, op, **fields):
        """Send a request."""
        self.socket.send(json.dumps({"op": op, **fields}))

    def call(self, service):
        """Call a service; returns its answer."""
        self.read(lambda: service in self.services)
        number, payload = self.services[service], b"{}"
        self.socket.send(struct.pack("<BIII", 2, number, 1, 4) + b"json" + payload)
        answers = []
        self.answered = answers.append
        self.read(lambda: answers)
        return answers[0]

    def set(self, name, value):
        """Set a parameter; returns its value as the server answers it."""
        before = len(self.control)
        self.ask("setParameters", parameters=[{"name": name, "value": value}], id=f"set {name}")
        self.read(lambda: any(told.get("id") == f"set {name}" for told in self.control[before:]))
        told = next(told for told in self.control[before:] if told.get("id") == f"set {name}")
        return {each["name"]: each.get("value") for each in told["parameters"]}.get(name)

    def parameters(self):
        """All parameters by name."""
        before = len(self.control)
        self.ask("getParameters", parameterNames=[], id="all")
        self.read(lambda: any(told.get("id") == "all" for told in self.control[before:]))
        told = next(told for told in self.control[before:] if told.get("id") == "all")
        return {each["name"]: each.get("value") for each in told["parameters"]}

    def of(self, topic):
        """Messages of a topic: time [ns] and bytes."""
        return [(time_ns, data) for name, time_ns, data in self.messages if name == topic]

    def close(self):
        self._open.close()

    def _text(self, told):
        self.control.append(told)
        if told["op"] == "advertise":
            new = {channel["id"]: channel for channel in told["channels"]}
            self.channels |= new
            chosen = [i for i, channel in new.items() if self.wanted is None or channel["topic"] in self.wanted]
            self.ask("subscribe", subscriptions=[{"id": i, "channelId": i} for i in chosen])
        elif told["op"] == "status" and "nknown channel ID: " in told["message"]:
            # The SDK announces a channel some microseconds before it can be subscribed to
            number = int(told["message"].split("ID: ")[1])
            self.ask("subscribe", subscriptions=[{"id": number, "channelId": number}])
        elif told["op"] == "advertiseServices":
            self.services |= {service["name"]: service["id"] for service in told["services"]}

    def _binary(self, frame):
        if frame[0] == 1:
            _, subscription, time_ns = struct.unpack("<BIQ", frame[:13])
            self.messages.append((self.channels[subscription]["topic"], time_ns, frame[13:]))
        elif frame[0] == 3:
            length = struct.unpack("<I", frame[9:13])[0]
            self.answered(json.loads(frame[13 + length :]))


def environment():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 20, 20), pose=sn.Pose((10.5, 0, 0)), label="wall")
    scene.add(sn.shapes.box(2, 1, 1), body="car", label="car")
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(1, 0, 0))}, step_s=0.01)
    env = sn.Environment(scene, world, seed=5)
    dead = sn.corruption.Fault(sn.corruption.Stuck(mode="present"), start_s=1e6, name="dead")
    env.attach(
        sn.Gyroscope(
            timing=sn.Timing(rate_hz=100.0),
            noise=sn.corruption.Noise(std=0.1),
            faults=sn.corruption.FaultSchedule(faults=(dead,)),
        ),
        body="car",
        name="gyro",
    )
    pattern = sn.patterns.Spinning(elevation_deg=tuple(range(-8, 8)), columns=180, rate_hz=10)
    env.attach(sn.Lidar(pattern=pattern), body="car", hide=["car"])
    return env


@pytest.fixture
def env():
    return environment()


@pytest.fixture
def client_of():
    """Makes clients, which are closed at the end."""
    made = []

    def make(port, topics=None):
        made.append(Client(port, topics))
        return made[-1]

    yield make
    for client in made:
        client.close()
