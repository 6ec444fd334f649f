"""The receiver of `sensorium listen foxglove`, beside a server of this library that stops and starts again."""

import json

import sensorium as sn
from sensorium.live.listen.foxglove import FoxgloveListening, FoxgloveReceiver


def environment():
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), name="gyro")
    return env


def test_chosen_topics_arrive_and_a_server_that_comes_back_is_found_again():
    sink = sn.live.open_sink("foxglove", port=0)
    run = environment().run(100.0, live=[sink])
    next(run)
    port = sink.port
    receiver = FoxgloveReceiver(FoxgloveListening(port=port, topics=("/gyro/data_raw",)))
    with receiver:
        heard = []

        def hear(run):
            heard.clear()
            while len(heard) < 3:
                next(run)
                if (received := receiver.receive(0.2)) is not None:
                    heard.append(received)

        hear(run)
        assert {received.source for received in heard} == {"/gyro/data_raw"}
        assert heard[0].kind == "sensor_msgs/msg/Imu"
        assert "angular_velocity.x" in heard[0].line
        run.close()
        assert receiver.receive(0.1) is None
        again = environment().run(100.0, live=[sn.live.open_sink("foxglove", port=port)])
        hear(again)
        assert {received.source for received in heard} == {"/gyro/data_raw"}
        again.close()


def test_a_channel_that_the_server_does_not_know_yet_is_asked_for_again():
    receiver, sent = FoxgloveReceiver(FoxgloveListening()), []

    class Connection:
        def send(self, text):
            sent.append(json.loads(text))

    receiver._connection = Connection()
    channel = {"id": 8, "topic": "/a", "encoding": "cdr", "schemaName": "a/msg/B", "schemaEncoding": "ros2msg"}
    receiver._control(json.dumps({"op": "advertise", "channels": [channel]}))
    receiver._control(json.dumps({"op": "status", "level": 2, "message": "Unknown channel ID: 8"}))
    receiver._control(json.dumps({"op": "status", "level": 1, "message": "All is well"}))
    assert sent == [{"op": "subscribe", "subscriptions": [{"id": 8, "channelId": 8}]}] * 2
