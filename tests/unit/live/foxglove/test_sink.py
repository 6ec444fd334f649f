"""The server as a bare client sees it: the same messages as in the recording, mounts and scene for late clients."""

import threading

import pytest
from mcap.reader import make_reader

import sensorium as sn
from sensorium.core.errors import SpecError


def test_a_client_gets_the_bytes_schemas_and_times_of_the_recording(env, client_of, tmp_path):
    sink, clock = sn.live.open_sink("foxglove", port=0), sn.live.RunClock(paused=True)
    clock.single_step()  # topics are known after the first step
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        run = env.run(0.5, realtime=clock, live=[sink])
        next(run)
        recorder.record(env)
        client = client_of(sink.port)
        client.read(lambda: {"/scene", "/tf_static"} <= {name for name, _, _ in client.messages})
        clock.resume()
        for _ in range(49):
            next(run)
            recorder.record(env)
            if env.time_ns == 100_000_000:
                client.read(lambda: sink._channels["/lidar/points"].has_sinks())
        client.read(lambda: len(client.of("/lidar/points")) == 4)
        run.finish()
    with (tmp_path / "run.mcap").open("rb") as file:
        recorded = [
            (channel.topic, schema.name, schema.data, message.log_time, message.data)
            for schema, channel, message in make_reader(file).iter_messages()
        ]
    schemas = {channel["topic"]: (channel["schemaName"], channel["schema"]) for channel in client.channels.values()}
    for topic in ("/clock", "/tf", "/gyro/data_raw"):
        expected = [(log_ns, data) for name, _, _, log_ns, data in recorded if name == topic and log_ns > 10_000_000]
        assert [each for each in client.of(topic) if each[0] > 10_000_000] == expected
    for topic, kind, definition, _, _ in recorded:
        if topic in schemas:
            assert schemas[topic] == (kind, definition.decode())
    # The first cloud makes its topic known, so that nobody could have subscribed to it before
    expected = [(log_ns, data) for name, _, _, log_ns, data in recorded if name == "/lidar/points"]
    assert client.of("/lidar/points") == expected[1:]
    assert len(expected) == 5
    assert [log_ns for log_ns, _ in client.of("/scene")] == [10_000_000]  # simulated time, as of all else
    mounts = [data for name, _, _, _, data in recorded if name == "/tf_static"]
    assert [data for _, data in client.of("/tf_static")] == mounts
    assert len(client.of("/scene")) == 1


def test_late_clients_get_mounts_and_scene_and_two_get_the_same(env, client_of):
    sink = sn.live.open_sink("foxglove", port=0)
    clients = []
    for number, _ in enumerate(env.run(100.0, realtime=True, live=[sink])):
        if number in (0, 10):
            clients.append(client_of(sink.port))
            client = clients[-1]
            client.read(lambda client=client: {"/tf_static", "/scene"} <= {name for name, _, _ in client.messages})
        if number == 20:
            assert sink.state().receivers == 2
            clients.pop(0).close()
        if number > 20 and sink.state().receivers == 1:
            break
    client = clients[0]
    client.read(lambda: client.of("/gyro/data_raw"))
    assert len(client.of("/tf_static")) >= 2


def test_a_taken_port_and_a_foreign_address_are_refused_by_name(env):
    sink = sn.live.open_sink("foxglove", port=0)
    for _ in env.run(0.01, live=[sink]):
        with pytest.raises(SpecError, match=rf"live.foxglove cannot listen on 127.0.0.1:{sink.port} "):
            env_of_another_run(sink.port)
    with pytest.raises(SpecError, match=r"live.foxglove cannot listen on 203.0.113.9:0"):
        env.run(0.01, live=[sn.live.open_sink("foxglove", host="203.0.113.9", port=0)]).finish()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sensorium-live")]


def env_of_another_run(port):
    other = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    other.run(0.01, live=[sn.live.open_sink("foxglove", port=port)]).finish()


def test_the_port_is_free_again_after_the_run(env):
    first = sn.live.open_sink("foxglove", port=0)
    port = None
    for _ in env.run(0.02, live=[first]):
        port = first.port
    again = sn.live.open_sink("foxglove", port=port)
    for _ in env.run(0.02, live=[again]):
        assert again.port == port


def test_nothing_is_encoded_without_a_subscriber(env):
    sink = sn.live.open_sink("foxglove", port=0)
    for _ in env.run(0.2, live=[sink]):
        pass
    assert sink.state().sent == 0
    assert sink.state().dropped == 0
