"""`sensorium listen` over Zenoh and DDS: topics are found, printed and recorded."""

import random

import pytest
from mcap.reader import make_reader

import sensorium as sn
from tests.system.live.ros2_runs import Running, car, eventually, free_port

pytestmark = pytest.mark.slow

TOPICS = {"/clock", "/tf", "/tf_static", "/flat/points", "/flat/scan", "/imu/data_raw", "/ray/points", "/ray/range"}


@pytest.mark.parametrize("path", ["ros2", "dds"])
def test_it_prints_and_records_what_arrives(path, tmp_path, command):
    if path == "ros2":
        pytest.importorskip("zenoh")
        endpoint = f"tcp/127.0.0.1:{free_port()}"
        sink, settings = {"endpoint": endpoint, "mode": "listen"}, [f"endpoint={endpoint}"]
    else:
        pytest.importorskip("cyclonedds")
        domain = random.SystemRandom().randint(60, 99)
        sink, settings = {"domain": domain}, [f"domain={domain}"]
    env, file = car(), tmp_path / "heard.mcap"
    arguments = [word for each in settings for word in ("--set", each)]
    with Running(env, sn.live.open_sink(path, **sink)):
        eventually(lambda: env.time_ns > 300_000_000)
        done = command("listen", path, *arguments, "--seconds", "4", "--record", file)
    assert done.returncode == 0, done.stderr
    assert "/imu/data_raw" in done.stdout
    assert "90 points in flat" in done.stdout
    with file.open("rb") as opened:
        summary = make_reader(opened).get_summary()
    assert {channel.topic for channel in summary.channels.values()} >= TOPICS
    assert all(schema.encoding == "ros2msg" for schema in summary.schemas.values())
    counts = {
        summary.channels[number].topic: count for number, count in summary.statistics.channel_message_counts.items()
    }
    assert counts["/imu/data_raw"] > 20


def test_chosen_topics_only(command):
    pytest.importorskip("zenoh")
    endpoint = f"tcp/127.0.0.1:{free_port()}"
    env = car()
    with Running(env, sn.live.open_sink("ros2", endpoint=endpoint, mode="listen")):
        eventually(lambda: env.time_ns > 0)
        settings = ("--set", f"endpoint={endpoint}", "--set", "topics=[/ray/range]")
        done = command("listen", "ros2", *settings, "--count", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("/ray/range") == 4
    assert "/imu" not in done.stdout
