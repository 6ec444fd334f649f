"""A simulated radar on its way past the detections of a recorded list that stand still."""

from collections.abc import Sequence

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.devices import Device
from sensorium.environment import Environment
from sensorium.recordings.compare.comparison import Comparing
from sensorium.recordings.fit.radar import halves
from sensorium.recordings.measure.radar import measure_radar, own_motion
from sensorium.recordings.readers.radar_lists import DetectionList
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.radar import Radar
from sensorium.worlds import Kinematic
from sensorium.worlds.paths import Line

# Frames that the targets are spread over, so that few share a cell
_FRAMES = 8

# Of a target [m], and its cross-section where the list has none [dB m^2]
_RADIUS_M, _USUAL_DB = 0.005, 0.0


def simulate_detections(device: Device, detections: DetectionList, seed: int) -> tuple[DetectionList, Sequence[str]]:
    """Detections of small targets at the recorded places of those that stand still, at the recorded own velocity.

    A radar that measures no elevation sees them at its own height.
    """
    radar, motion = Radar.from_device(device.path, source="cone"), own_motion(detections)
    if not radar.measures("azimuth"):
        raise SpecError(f"device {device.name!r} measures no azimuth; Doppler against own speed needs it")
    elevation = motion.elevation if radar.measures("elevation") else np.zeros(len(motion.elevation))
    fields, still = detections.fields, np.flatnonzero(motion.still)
    range_m = fields["range"][motion.valid][still]
    level_dB = fields["rcs"][motion.valid][still] if "rcs" in fields else np.full(len(still), _USUAL_DB)
    azimuth, elevation = motion.azimuth[still], elevation[still]
    way = np.stack(
        [np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)], axis=1
    )
    place = (range_m + _RADIUS_M)[:, None] * way
    step_s = 1.0 / (radar.timing.rate_hz or 20.0)
    velocity = (*motion.velocity.tolist(), 0.0)
    # At the first frame the radar is at the origin
    path = Line(start=tuple(-step_s * each for each in velocity), velocity=velocity)
    lists = []
    for part in range(_FRAMES):
        mine = np.argsort(range_m, kind="stable")[part::_FRAMES]
        scene = Scene()
        sections = {}
        for k in mine:
            name = f"target {k}"
            scene.add(shapes.sphere(_RADIUS_M, 1), pose=Pose(place[k]), name=name)
            sections[name] = float(10.0 ** (0.1 * level_dB[k]))
        env = Environment(scene, Kinematic({"radar": path}, step_s=step_s), seed=seed + part)
        sensor = env.attach(radar.model_copy(update={"cross_sections": sections}), body="radar")
        env.step()
        lists.append(sensor.read().flat())
    names = {"range": "range_m", "azimuth_angle": "azimuth_rad", "range_rate": "range_rate_m_s"}
    if radar.measures("elevation"):
        names["elevation_angle"] = "elevation_rad"
    found = {
        name: np.concatenate([getattr(each, field) for each in lists]).astype(np.float64)
        for name, field in names.items()
    }
    how = f"targets: {len(still)} detections that stand still; the simulated radar lists {len(found['range'])}"
    return detections._replace(fields=found, head={}), (how,)


compare_radar = Comparing(
    kind="radar",
    measure=measure_radar,
    halves=halves,
    samples="detections",
    simulate=simulate_detections,
    tolerances={
        "own_speed": 0.01,
        "own_speed.direction": 0.1,
        "doppler_noise": 0.15,
        "doppler_noise.head_on": 0.15,
        "azimuth_noise": 0.3,
        "doppler_quantum": 1e-3,
        "azimuth_quantum": 1e-3,
    },
)
"""Movers, ghosts and the tails of the noise are not modeled."""
