"""The yard drive as a client of the Foxglove server receives it, while the van drives."""

import threading

import numpy as np

import sensorium as sn
from sensorium.app.gallery import path_of
from sensorium.live.listen.foxglove import FoxgloveListening, FoxgloveReceiver
from sensorium.record.ros2 import cdr

DURATION_S = 1.5

env = sn.scenario.Scenario.load(path_of("yard-drive")).environment()
sink, clock = sn.live.open_sink("foxglove", port=0), sn.live.RunClock(speed=1.0)
points, labels, path, messages = [], [], [], 0


def receive(stop: threading.Event) -> None:
    """A client, which knows only the server's address: keeps points and places of the van."""
    global messages
    topics = ("/roof/points", "/tf", "/imu/data_raw")
    with FoxgloveReceiver(FoxgloveListening(port=sink.port, topics=topics)) as receiver:
        while not stop.is_set():
            if (received := receiver.receive(0.1)) is None:
                continue
            messages += 1
            message = cdr.decoded(received.kind, received.payload)
            if received.source == "/tf":
                van = next(each for each in message.transforms if each.child_frame_id == "van")
                path.append((van.transform.translation.x, van.transform.translation.y))
            elif received.source == "/roof/points":
                types = {2: "u1", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
                kind = np.dtype([(field.name, types[field.datatype]) for field in message.fields])
                cloud = message.data.view(kind)
                cloud = cloud[cloud["label"] >= 0]  # without returns from fog
                points.append(np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=-1))
                labels.append(cloud["label"])


stop = threading.Event()
client = threading.Thread(target=receive, args=(stop,))
for number, _ in enumerate(env.run(DURATION_S, realtime=clock, live=[sink])):
    if number == 0:
        client.start()
        while not sink.state().receivers:
            stop.wait(0.01)
    if number == int(100 * DURATION_S) - 1:
        sink_state = sink.state()
        while len(path) < 50:  # what is on its way arrives
            stop.wait(0.05)
        stop.set()
        client.join()

cloud, numbers = np.concatenate(points), np.concatenate(labels)
print(f"{messages} messages, {len(points)} clouds of {len(cloud):,} points, in {DURATION_S} s of driving")
print(f"{sink_state}; at most {clock.most_behind_s:.2f} s behind real time")
title = f"What a client of the live yard received: {len(points)} clouds"
sn.view.save_figure("live_yard.png", sn.view.top_view(cloud, numbers, env.scene.labels, path_W=path, title=title))
