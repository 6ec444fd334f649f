"""Paths of bodies and mounts of sensors in a report."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.environment import Environment
from sensorium.view.report.envelope import packed

# Places kept of each body, and bodies that are drawn
_MOST_PLACES = 1024
_MOST_BODIES = 40


class TrackRecord:
    """Positions of all bodies of the first world.

    Memory is bounded: when this many places are kept, every second one is dropped and from then on every second is
    taken. The newest is always known.
    """

    def __init__(self, env: Environment) -> None:
        self._names = env.world.body_names
        self._every, self._steps = 1, 0
        self._kept: list[NDArray[np.float64]] = []
        self._newest: NDArray[np.float64] | None = None

    def add(self, env: Environment) -> None:
        """Keep where bodies are now."""
        if not self._names:
            return
        self._newest = env.state.X_WB.position[0]
        if self._steps % self._every == 0:
            self._kept.append(np.array(self._newest))
            if len(self._kept) == _MOST_PLACES:
                self._kept = self._kept[::2]
                self._every *= 2
        self._steps += 1

    def tracks(self) -> list[dict[str, Any]]:
        """The path of each body, the longest first; a body at rest has one place."""
        if self._newest is None:
            return []
        places = np.stack([*self._kept, self._newest])
        way_m = np.linalg.norm(np.diff(places, axis=0), axis=-1).sum(axis=0)
        order = np.argsort(-way_m, kind="stable")[:_MOST_BODIES]
        found = []
        for body in sorted(order.tolist()):
            way = places[:, body] if way_m[body] > 0.0 else places[-1:, body]
            columns = {axis: packed(way[:, k].astype(np.float32)) for k, axis in enumerate("xyz")}
            found.append({"name": self._names[body], "way_m": float(way_m[body])} | columns)
        return found


def sensor_frames(env: Environment) -> list[dict[str, Any]]:
    """Name, place [m] and axes of every sensor in the first world, as they are now."""
    found = []
    for sensor in env.sensors.values():
        rig = sensor.rig
        X_WS = rig.X_BS if rig.body is None else env.state.X_WB[0, rig.body] @ rig.X_BS
        for row in range(rig.sensors):
            name = f"{sensor.name}[{row}]" if rig.sensor_axis else sensor.name
            pose = X_WS[row]
            found.append({"name": name, "place": pose.position.tolist(), "axes": pose.rotation.T.tolist()})
    return found[: 2 * _MOST_BODIES]
