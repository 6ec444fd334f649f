"""Prints "ready", then the number of messages on a key of Zenoh received so far, ten times a second.

Arguments: port to connect to, key. It knows nothing of ROS.
"""

import json
import sys
import time

import zenoh

port, key = sys.argv[1:]
config = zenoh.Config()
settings = {
    "mode": "peer",
    "connect/endpoints": [f"tcp/127.0.0.1:{port}"],
    "listen/endpoints": [],
    "scouting/multicast/enabled": False,
}
for name, value in settings.items():
    config.insert_json5(name, json.dumps(value))
count = 0


def received(sample: zenoh.Sample) -> None:
    global count
    count += 1


with zenoh.open(config) as session:
    subscriber = session.declare_subscriber(key, received)
    print("ready", flush=True)
    while True:
        time.sleep(0.1)
        print(count, flush=True)
