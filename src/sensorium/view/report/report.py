"""The report of a run, from its first step to the file."""

import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

from sensorium.core.clock import ns_to_seconds
from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.files.atomic import replacing
from sensorium.record.recorder import Recorder
from sensorium.sensors.camera.image import CameraImage
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.sensors.lidar.scan import Scan
from sensorium.sensors.radar.reading import RadarReading
from sensorium.sensors.ray_sensor.ray_sensor import RayReading
from sensorium.view.quantities import quantities_of
from sensorium.view.report.facts import Facts, fault_events, quantity, sensor_rows, versions
from sensorium.view.report.page import Page, page
from sensorium.view.report.pictures import DepthRecord, DetectionRecord, PictureRecord, TableRecord
from sensorium.view.report.signals import SignalRecord
from sensorium.view.report.sweeps import SweepRecord
from sensorium.view.report.tracks import TrackRecord, sensor_frames

# Limits of a page, so that it stays below 8 MB with the plotting library's 4.8: 10 bytes a point and 12 a sample, and a
# third more as text
_POINTS_OF_A_LIDAR = 60_000
_POINTS = 120_000
_STRETCHES = 8_000
_MOST_IMAGES = 4


class Report(Recorder):
    """Collects the data for a page about the run, and writes it: one file, which any browser opens without a network.

        with sn.view.Report("report.html", title="Yard drive") as report:
            for _ in env.run(10.0):
                report.record(env)

    The page has the last sweep of every lidar in 3-D with the ways of the bodies, the same from above, the last images
    of cameras, ranges of lidars and detections of radars, a pulse of lidars that keep their waveforms, every sampled
    signal beside its truth with the error below, Allan deviations of inertial errors, a timeline of faults, and the
    facts of the run. Of several worlds it shows the first, of a row of sensors the first four (of a radar's the first).

    Memory does not grow with the run: of a signal the extremes of at most 768 intervals are kept, of inertial errors
    the first 65,536 and as many means, of a body at most 1,024 places, of a lidar the last sweep. The file depends on
    the run alone, except for the real time it took.
    """

    def __init__(
        self, path: str | PathLike[str] | None = None, *, title: str = "Sensorium run", facts: Facts | None = None
    ) -> None:
        """Begin.

        Args:
            path: File that `close()` writes, such as report.html; None leaves that to `save()`.
            title: Heading of the page.
            facts: Further facts of the run, by name.
        """
        self.path = None if path is None else Path(path)
        self.title = title
        self._facts: dict[str, Any] = dict(facts or {})
        self._began_s = time.perf_counter()
        self._env: Environment | None = None
        self._tracks: TrackRecord | None = None
        self._sweeps: dict[str, SweepRecord] = {}
        self._signals: dict[str, SignalRecord] = {}
        self._pictures: dict[str, PictureRecord] = {}
        self._detections: dict[str, DetectionRecord] = {}
        self._depths: dict[str, DepthRecord] = {}
        self._value_tables: dict[str, TableRecord] = {}
        self._unknown: dict[str, str] = {}
        self._steps, self._first_ns = 0, 0
        self._closed = False

    def record(self, env: Environment) -> None:
        """Record the readings of the environment's last step; always the same environment."""
        if self._closed:
            raise SpecError(f"report {self.title!r} is closed; nothing can be recorded any more")
        if self._env is None:
            self._env, self._tracks, self._first_ns = env, TrackRecord(env), env.time_ns
        if env is not self._env:
            raise SpecError("env is another than that of the step before; a report must be of one environment")
        assert self._tracks is not None
        self._tracks.add(env)
        self._steps += 1
        for name, sensor in env.sensors.items():
            if not sensor.fresh:
                continue
            newest = sensor.read()
            if isinstance(newest, Scan):
                sweeps = self._sweeps.get(name) or self._sweeps.setdefault(name, SweepRecord(sensor))
                for scan in sensor.readings():
                    sweeps.add(scan)
            elif isinstance(newest, CameraImage):
                pictures = self._pictures.get(name) or self._pictures.setdefault(name, PictureRecord(sensor))
                for image in sensor.readings():
                    pictures.add(image)
            elif isinstance(newest, RadarReading):
                detections = self._detections.get(name) or self._detections.setdefault(name, DetectionRecord(sensor))
                for frame in sensor.readings():
                    detections.add(frame)
            elif isinstance(newest, DepthImage):
                depths = self._depths.get(name) or self._depths.setdefault(name, DepthRecord(sensor))
                for depth in sensor.readings():
                    depths.add(depth)
            elif name in self._signals or quantities_of(newest):
                signals = self._signals.get(name) or self._signals.setdefault(name, SignalRecord(sensor, newest))
                for arrival in sensor.arrivals():
                    signals.add(arrival.reading, arrival.truth())
            elif isinstance(newest, RayReading):
                tables = self._value_tables.get(name) or self._value_tables.setdefault(name, TableRecord(sensor))
                for arrival in sensor.arrivals():
                    tables.add((arrival.reading, arrival.truth()))
            else:
                self._unknown[name] = type(newest).__name__

    def save(self, path: str | PathLike[str], facts: Facts | None = None) -> None:
        """Write the page of the steps recorded so far; it appears complete or not at all.

        Args:
            path: File to write, such as report.html; one that exists is replaced.
            facts: Further facts of the run, by name; a `Path` becomes a link, relative to the report.
        """
        path = Path(path)
        content = page(self._page(facts or {}), folder=path.parent)
        with replacing(path) as file:
            file.write(content)

    def close(self) -> None:
        """Write the page to the given path, if any; nothing can be recorded after."""
        if not self._closed and self.path is not None:
            self.save(self.path)
        self._closed = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._facts["Ended early"] = f"{kind.__name__}: {error}"
        super().__exit__(kind, error, traceback)

    # --- content of the page ----------------------------------------------------------------------------------------

    def _page(self, facts: Facts) -> Page:
        """All sections, as plain data."""
        env, real_s = self._env, time.perf_counter() - self._began_s
        own: dict[str, Any] = {**self._facts, **facts}
        if env is None:
            return Page(self.title, {"Steps": "0"}, {**own, "Versions": _listed(versions())}, [], {}, [])
        labels = dict(env.scene.labels)
        events, more_events = fault_events(env.sensors.values(), env.time_ns)
        allan, notes = [], []
        for record in self._signals.values():
            plots, why = record.allan_plots()
            allan += plots
            notes += [] if why is None else [why]
        if more_events:
            notes.append(f"{more_events:,} further faults are not drawn.")
        notes += [f"{name}: there is no plot for a {kind}." for name, kind in self._unknown.items()]
        channels = sum(record.channels() for record in self._signals.values())
        lidars = max(1, sum(len(record.rows()) for record in self._sweeps.values()))
        data = {
            "from_s": ns_to_seconds(self._first_ns),
            "to_s": env.time_s,
            "clouds": [
                cloud
                for record in self._sweeps.values()
                for cloud in record.clouds(labels, min(_POINTS_OF_A_LIDAR, _POINTS // lidars))
            ],
            "tracks": self._tracks.tracks() if self._tracks is not None else [],
            "frames": sensor_frames(env),
            "images": [
                *(image for record in self._pictures.values() for image in record.images()),
                *(image for record in self._detections.values() for image in record.images()),
                *(image for record in self._depths.values() for image in record.images(labels)),
                *(image for record in self._value_tables.values() for image in record.images()),
                *(image for record in self._sweeps.values() for image in record.waveforms()),
                *(image for record in self._sweeps.values() for image in record.images(labels)),
            ][:_MOST_IMAGES],
            "signals": [
                plot for record in self._signals.values() for plot in record.plots(max(8, _STRETCHES // channels))
            ],
            "allan": allan,
            "faults": events,
        }
        readings = {name: record.readings for name, record in self._sweeps.items()}
        readings |= {name: record.readings for name, record in self._signals.items()}
        readings |= {name: record.readings for name, record in self._pictures.items()}
        readings |= {name: record.readings for name, record in self._detections.items()}
        readings |= {name: record.readings for name, record in self._depths.items()}
        readings |= {name: record.readings for name, record in self._value_tables.items()}
        return Page(
            self.title,
            self._strip(env, real_s, sum(readings.values()), len(events) + more_events),
            self._table(env, own, real_s),
            sensor_rows(env, readings),
            data,
            notes,
        )

    def _strip(self, env: Environment, real_s: float, readings: int, faults: int) -> dict[str, str]:
        """The facts at the top of the page."""
        simulated_s = self._simulated_s(env)
        strip = {
            "Simulated": quantity(simulated_s, "s"),
            "Real time": quantity(real_s, "s"),
            "Real-time factor": f"{simulated_s / max(real_s, 1e-9):.2f}",
            "Steps": quantity(self._steps),
            "Sensors": str(len(env.sensors)),
            "Readings": quantity(readings),
        }
        if self._sweeps:
            strip["Rays"] = quantity(sum(record.rays for record in self._sweeps.values()))
        return strip | {"Faults": str(faults), "Seed": str(env.seed)}

    def _table(self, env: Environment, own: Mapping[str, Any], real_s: float) -> dict[str, Any]:
        """The facts at the end of the page; the user's own come first."""
        rays = sum(record.rays for record in self._sweeps.values())
        returns = sum(record.returns for record in self._sweeps.values())
        table: dict[str, Any] = {
            **own,
            "Seed": env.seed,
            "World": type(env.world).__name__,
            "Worlds": env.state.X_WB.shape[0],
            "Bodies": ", ".join(env.world.body_names[:20]) + (" …" if len(env.world.body_names) > 20 else ""),
            "Steps": f"{self._steps:,}",
            "Simulated time": f"{ns_to_seconds(self._first_ns):.3f} s to {env.time_s:.3f} s",
            "Real time": f"{real_s:.2f} s, writing of other files included",
        }
        if rays:
            table["Rays"] = f"{rays:,}"
            table["Returns"] = f"{returns:,} ({100.0 * returns / rays:.1f} % of rays)"
        return {name: value for name, value in table.items() if value != ""} | {"Versions": _listed(versions())}

    def _simulated_s(self, env: Environment) -> float:
        """Simulated time of the recorded steps [s]; the first took as long as the mean of the others."""
        steps = max(self._steps - 1, 1)
        return ns_to_seconds(env.time_ns - self._first_ns) * self._steps / steps


def _listed(pairs: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())
