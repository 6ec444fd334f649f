"""An environment in Rerun while it runs."""

from os import PathLike
from typing import Any

import numpy as np

from sensorium.corruption.faults.log import FaultWatch
from sensorium.environment import Environment
from sensorium.record.recorder import Recorder
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.sampled import SampledReading
from sensorium.sensors.lidar.scan import Scan
from sensorium.sensors.radar.reading import RadarReading
from sensorium.view.quantities import quantities_of, values_of, world_points
from sensorium.view.viewer.stream import Stream, check_save

# Bodies move this often at most, and numbers are shown as often [ns of simulated time]
_SHOWN_EVERY_NS = 20_000_000


class Live(Recorder):
    """Shows every step in a Rerun window, or writes it to a file.

        for _ in env.run(10.0, view=True):  # the same as recording each step with sn.view.Live()
            ...

    Of several worlds it shows the first.
    """

    def __init__(self, save: str | PathLike[str] | None = None, *, title: str = "Sensorium run") -> None:
        """Open it.

        Args:
            save: File to write, .rrd, to be opened by `sensorium view`; None opens a window.
            title: Name of the recording.
        """
        self._stream: Stream | None = Stream(save, title)
        self._due_ns: int | None = None
        self._mounted: set[str] = set()
        self._faults_seen: dict[str, FaultWatch] = {}

    @staticmethod
    def check(save: str | PathLike[str] | None = None) -> None:
        """Raise the error that opening it would, without opening it; the argument as above."""
        check_save(save)

    def record(self, env: Environment) -> None:
        """Show the environment's last step."""
        stream = self._stream
        assert stream is not None, "a view that is closed shows nothing"
        for name, sensor in env.sensors.items():
            if name not in self._mounted:
                self._mount(stream, env, sensor)
            if sensor.fresh:
                self._readings(stream, env, sensor)
            self._faults(stream, env, sensor)

        # Bodies and numbers at the pace of a screen
        if self._due_ns is None or env.time_ns >= self._due_ns:
            first = self._due_ns is None
            self._due_ns = env.time_ns + _SHOWN_EVERY_NS
            for body, body_name in enumerate(env.world.body_names):
                stream.pose([body_name], env.state.X_WB[0, body], env.time_ns)
            stream.flush()
            if first:
                stream.layout()

    def close(self) -> None:
        """Show buffered data; a file appears."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            stream.close()

    def _mount(self, stream: Stream, env: Environment, sensor: AttachedSensor[Any]) -> None:
        """Mount of the sensor, below its body."""
        self._mounted.add(sensor.name)
        rig = sensor.rig
        on = [] if rig.body is None else [env.world.body_names[rig.body]]
        for row, name in enumerate(_names(sensor)):
            stream.pose([*on, name], rig.X_BS[row], None)

    def _readings(self, stream: Stream, env: Environment, sensor: AttachedSensor[Any]) -> None:
        for arrival in sensor.arrivals():
            reading = arrival.reading
            if isinstance(reading, Scan):
                stream.names(env.scene.labels)
                for row, name in enumerate(_names(sensor)):
                    flat = reading.one(row).flat()
                    stream.cloud(name, world_points(flat), flat.label, reading.end_ns)
            elif isinstance(reading, RadarReading):
                stream.names(env.scene.labels)
                for row, name in enumerate(_names(sensor)):
                    own = reading.row(0, row)
                    found = own.flat()
                    points_W = own.X_WS[0, 0].apply(found.points)
                    stream.cloud(name, points_W, found.label, reading.end_ns)
            elif isinstance(reading, SampledReading):
                self._numbers(stream, sensor, reading, arrival.truth())

    def _numbers(
        self, stream: Stream, sensor: AttachedSensor[Any], reading: SampledReading, truth: SampledReading
    ) -> None:
        """Every quantity, and its truth in a branch below."""
        names, quantities = _names(sensor), quantities_of(reading)
        if not quantities:
            return
        measured, true = values_of((reading, truth), quantities, len(names))
        for row, name in enumerate(names):
            column = 0
            for quantity in quantities:
                at = np.s_[row, column : column + len(quantity.components)]
                column += len(quantity.components)
                words = [f"{quantity.title} {component}".strip() for component in quantity.components]
                stream.numbers([name, quantity.name], words, measured[at].tolist(), truth.time_ns)
                true_words = [f"{word}, true" for word in words]
                stream.numbers([name, quantity.name, "truth"], true_words, true[at].tolist(), truth.time_ns)

    def _faults(self, stream: Stream, env: Environment, sensor: AttachedSensor[Any]) -> None:
        """Faults of the first world that set in or were over since the last step; at first, those active as well."""
        watch = self._faults_seen.setdefault(sensor.name, FaultWatch(env.step_from_ns))
        for event in watch.changes(sensor.faults.log):
            if event.world == env.first_world:
                is_active = event.end_ns is None
                words = f"{sensor.name}: {event.fault} {'is active' if is_active else 'is over'}"
                stream.words(words, env.time_ns, is_bad=is_active)


def _names(sensor: AttachedSensor[Any]) -> list[str]:
    """Names of the sensors of a row, or the name of the only one."""
    rig = sensor.rig
    return [f"{sensor.name}[{row}]" for row in range(rig.sensors)] if rig.sensor_axis else [sensor.name]
