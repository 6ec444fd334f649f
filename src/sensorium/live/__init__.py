"""Sinks that send a run's readings to other programs while it goes on, one kind a folder."""

from sensorium.live.foxglove.layout import foxglove_layout
from sensorium.live.opening import open_sink
from sensorium.live.sink import Item, LiveSink, QueuedSink, SinkState
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock

__all__ = ["Item", "LiveSink", "LiveStep", "QueuedSink", "RunClock", "SinkState", "foxglove_layout", "open_sink"]
