"""A live run in a process of its own, and receivers that come, are killed, and come again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.slow

SCENARIO = """
title: Live
duration_s: {duration_s}
scene:
  objects:
    - {{shape: {{kind: box, x: 1, y: 20, z: 20}}, pose: {{position: [10.5, 0, 0]}}, label: wall}}
world:
  kind: kinematic
  step_s: 0.01
  bodies: {{car: {{kind: line, start: [0, 0, 0], velocity: [0.01, 0, 0]}}}}
sensors:
  imu: {{kind: imu, body: car, timing: {{rate_hz: 100}}}}
  lidar:
    kind: lidar
    body: car
    pattern: {{kind: spinning, elevation_deg: {{top: 8, bottom: -8, channels: 16}}, columns: 360, rate_hz: 10}}
outputs: {{mcap: true}}
"""

CLIENT = """
    import json, struct, sys
    from websockets.sync.client import connect
    url, protocols = f"ws://127.0.0.1:{sys.argv[1]}", ["foxglove.sdk.v1"]
    with connect(url, subprotocols=protocols, max_size=None, proxy=None) as socket:
        channels, counts = {}, {}
        while True:
            frame = socket.recv()
            if isinstance(frame, str):
                told = json.loads(frame)
                if told["op"] == "advertise":
                    channels |= {channel["id"]: channel["topic"] for channel in told["channels"]}
                    wanted = [{"id": channel["id"], "channelId": channel["id"]} for channel in told["channels"]]
                    socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
                elif told["op"] == "status" and "nknown channel ID: " in told["message"]:  # not yet
                    number = int(told["message"].split("ID: ")[1])
                    again = [{"id": number, "channelId": number}]
                    socket.send(json.dumps({"op": "subscribe", "subscriptions": again}))
            elif frame[0] == 1:
                topic = channels[struct.unpack("<BIQ", frame[:13])[1]]
                counts[topic] = counts.get(topic, 0) + 1
                print(json.dumps(counts), flush=True)
"""


def live_run(folder, duration_s, *more):
    (folder / "live.yaml").write_text(SCENARIO.format(duration_s=duration_s))
    command = [sys.executable, "-m", "sensorium", "run", "live.yaml", "--live", "foxglove"]
    command += ["--set", "live.foxglove.port=0", *more]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if found := re.search(r"ws://127\.0\.0\.1:(\d+)", line):
            return process, int(found.group(1))
    raise AssertionError(f"the run ended with {process.wait()}")


def client(port):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CLIENT), str(port)], stdout=subprocess.PIPE, text=True
    )


def received(process, topic, count):
    """Wait until a client has so many messages of a topic; its counts."""
    for line in process.stdout:
        counts = json.loads(line)
        if counts.get(topic, 0) >= count:
            return counts
    raise AssertionError("the client ended")


def kill(*processes):
    for process in processes:
        process.kill()
        process.wait(20)


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_receivers_come_are_killed_and_come_again_and_the_run_goes_on(tmp_path):
    run, port = live_run(tmp_path, 3600.0)
    first = client(port)
    try:
        assert received(first, "/imu/data_raw", 30)["/tf_static"] == 2
        first.kill()
        first.wait(20)
        second, third = client(port), client(port)
        try:
            for each in (second, third):
                counts = received(each, "/lidar/points", 3)
                assert counts["/tf_static"] >= 2
                assert counts["/scene"] >= 1
        finally:
            kill(second, third)
        assert run.poll() is None
    finally:
        run.send_signal(signal.SIGINT)
        kill(first)
    output, _ = run.communicate(timeout=30)
    assert run.returncode == 130, output
    assert "stopped at" in output
    assert not is_listening(port)


@pytest.mark.parametrize(
    ("number", "paused"), [(signal.SIGINT, "true"), (signal.SIGTERM, "false"), (signal.SIGKILL, "true")]
)
def test_a_killed_run_leaves_nothing_behind(tmp_path, number, paused):
    run, port = live_run(tmp_path, 3600.0, "--set", f"live.paused={paused}")
    listener = client(port)
    try:
        ends_s = time.monotonic() + 20
        while not is_listening(port):
            assert time.monotonic() < ends_s
        run.send_signal(number)
        run.communicate(timeout=30)
        assert run.returncode == (-9 if number == signal.SIGKILL else 128 + number)
        assert not is_listening(port)
        listener.wait(30)  # its connection is closed, so that it ends too
    finally:
        kill(run, listener)


def test_a_client_that_never_reads_does_not_stop_the_run(tmp_path):
    """It is connected and subscribed, and its buffers are full; the run ends, complete, with its recording."""
    run, port = live_run(tmp_path, 4.0)
    listener = client(port)
    try:
        received(listener, "/imu/data_raw", 1)
        listener.send_signal(signal.SIGSTOP)
        output, _ = run.communicate(timeout=120)
        assert run.returncode == 0, output
        assert re.search(r"foxglove +[\d,]+ sent, [\d,]+ dropped", output)
        assert (tmp_path / "live-run" / "run.mcap").is_file()
        manifest = json.loads((tmp_path / "live-run" / "manifest.json").read_text())
        assert manifest["run"]["steps"] == 400
        assert set(manifest["run"]["live"]["sinks"]) == {"foxglove"}
    finally:
        os.kill(listener.pid, signal.SIGCONT)
        kill(listener, run)


def test_listen_records_what_a_run_sends(tmp_path):
    run, port = live_run(tmp_path, 3600.0)
    try:
        command = [sys.executable, "-m", "sensorium", "listen", "foxglove", "--set", f"port={port}", "--count", "200"]
        done = subprocess.run(
            [*command, "--record", "heard.mcap"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
        )
        assert "/imu/data_raw" in done.stdout
        assert re.search(r"/lidar/points [\d,]+ points in lidar", done.stdout)
        from mcap.reader import make_reader

        with (tmp_path / "heard.mcap").open("rb") as file:
            topics = [channel.topic for _, channel, _ in make_reader(file).iter_messages()]
        assert len(topics) == 200
        assert {"/imu/data_raw", "/tf_static", "/clock"} <= set(topics)
    finally:
        kill(run)
