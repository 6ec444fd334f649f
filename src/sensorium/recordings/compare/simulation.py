"""A lidar in simulation, measuring the geometry of a recording again: a recording like the real one."""

from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.devices import Device, LidarSheet
from sensorium.environment import Environment
from sensorium.physics.materials import Lambertian
from sensorium.recordings.compare.targets import target_mesh, targets_of
from sensorium.recordings.fit.lidar import stamp_quantum_ns
from sensorium.recordings.measure.lidar_returns import least_separation
from sensorium.recordings.measurement import Figure
from sensorium.recordings.scans import FULL_TURN, LidarRecording
from sensorium.scene import shapes
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.worlds import Static

# Step of the ranges of a device without a stated one [m]
_FINE_M = 1e-4

# Rays of a beam, and beams, with which the separation of returns is measured
_BEAM_RAYS, _BEAMS = 12, 4000


def simulated_recording(
    device: Device, recording: LidarRecording, *, turns: int, is_still: bool, seed: int = 0
) -> LidarRecording:
    """What a device of a data sheet records where the real one was.

    Biases of channels are in the recorded geometry already: those of the sheet are taken out of it, and drawn ones are
    left out. Times are rounded to the step of the real ones.

    Args:
        device: Of a spinning lidar with as many channels as the recording.
        recording: The real recording.
        turns: How many turns to simulate.
        is_still: Whether the real scene is still.
        seed: Of the simulation's noise.
    """
    lidar = _lidar(device, recording)
    columns = lidar.pattern.rays(0).shape[1]
    targets = targets_of(recording, columns, is_still=is_still)
    if lidar.noise.channel_bias_m:
        bias_m = np.array(lidar.noise.channel_bias_m)[:, None]
        targets = targets._replace(range_m=np.where(targets.range_m > 0.0, targets.range_m - bias_m, 0.0))
    scene = Scene()
    scene.add(target_mesh(lidar.pattern.rays(0), targets), material=Lambertian(reflectance="reflectance"))
    env = Environment(scene, Static(step_s=1.0 / lidar.pattern.rate_hz), seed=seed)
    sensor = env.attach(lidar)
    scans: list[Any] = []
    while len(scans) < turns:
        env.step()
        scans += sensor.readings()
    assert isinstance(device.sheet, LidarSheet)
    found = _as_recording(lidar, recording, scans[:turns], is_still=is_still)
    return found._replace(range_unit_m=(device.sheet.number("range_quantum") or _FINE_M) / 2.0)


def _lidar(device: Device, recording: LidarRecording) -> Lidar:
    sheet = device.sheet
    if not isinstance(sheet, LidarSheet) or sheet.scan != "spinning":
        raise SpecError(f"device {device.name!r} is no spinning lidar; the recording is of {recording.device}")
    reported: dict[str, Any] = {"intensity": {"kind": "reflectivity", "bits": 8}, "detection": None}
    lidar = Lidar.from_device(device.path, **reported, noise={"channel_bias_std_m": 0.0})
    channels = lidar.pattern.rays(0).shape[0]
    if channels != recording.channels:
        raise SpecError(f"device {device.name!r} has {channels} channels; the recording has {recording.channels}")
    return lidar


def _as_recording(lidar: Lidar, real: LidarRecording, scans: list[Any], *, is_still: bool) -> LidarRecording:
    """Scans as columns in the order of time; stamps are as far apart as the real ones.

    Turns of a moving scene have one number, so that noise is measured along rings as in the real one.
    """
    columns, turns = scans[0].range_m.shape[-1], len(scans)
    quantum_ns = stamp_quantum_ns(real)
    channel_ns = lidar.pattern.rays(0).offset_ns[:, :1] - lidar.pattern.rays(0).offset_ns[:, 0].min()
    time_ns = np.concatenate([scan.start_ns + (scan.offset_ns - channel_ns)[0] for scan in scans])
    stamps = np.flatnonzero(real.is_stamped)
    apart = int(np.median(np.diff(stamps))) if len(stamps) > 1 else 1

    def rows(name: str, dtype: Any) -> Any:
        return np.concatenate([getattr(scan, name).T for scan in scans])[..., None].astype(dtype)

    return real._replace(
        source=f"simulated {real.device}",
        time_ns=(np.rint(time_ns / quantum_ns) * quantum_ns).astype(np.int64),
        is_stamped=np.arange(turns * columns) % apart == 0,
        azimuth=np.tile(FULL_TURN * np.arange(columns) / columns, turns),
        turn=np.repeat(np.arange(turns, dtype=np.int32) if is_still else np.zeros(turns, np.int32), columns),
        range_m=rows("range_m", np.float32),
        reflectivity=rows("intensity", np.uint8),
        signal=None,
        background=None,
        returns=("strongest",),
        remarks=(),
    )


def simulated_separation(device: Device, expected_m: float, *, seed: int = 0) -> Figure | None:
    """Least separation of two returns of the simulated device [m]: beams half on one wall, half on one behind it.

    Args:
        device: Of a lidar.
        expected_m: About how far two returns are apart at least; walls are 0 to 3 times as far [m].
        seed: Of the simulation's noise.
    """
    near_m = 5.0
    beam = {"rays": _BEAM_RAYS}
    noise: dict[str, Any] = {"dropout": 0.0, "channel_bias_std_m": 0.0, "channel_bias_m": ()}
    silent: dict[str, Any] = {"errors": (), "noise": noise}
    own = Lidar.from_device(device.path, returns="dual", beam=beam, detection=None, **silent)
    if own.beam.separation_m is None:
        return None
    # A row of beams along the edge of the near wall; behind it the far wall recedes
    height_m = np.linspace(-1.0, 1.0, _BEAMS)
    depth_m = near_m + np.linspace(0.0, 3.0 * expected_m, _BEAMS)
    elevation_deg = np.degrees(np.arctan2(height_m, near_m))
    pattern = {
        "kind": "table", "azimuth_deg": np.zeros(_BEAMS).tolist(), "elevation_deg": elevation_deg.tolist(),
        "time_s": np.zeros(_BEAMS).tolist(), "rate_hz": 10.0,
    }  # fmt: skip
    lidar = Lidar.model_validate({**own.model_dump(exclude={"pattern"}), "pattern": pattern, "min_range_m": 0.0})
    scene = Scene()
    scene.add(shapes.box(0.001, 4.0, 4.0), pose=Pose((near_m, 2.0, 0.0)), material=Lambertian(reflectance=0.5))
    along = np.stack([depth_m, height_m * depth_m / near_m], axis=1)
    corners = np.concatenate([np.insert(along, 1, y, axis=1) for y in (-4.0, 4.0)])
    k = np.arange(_BEAMS - 1)[:, None]
    faces = np.concatenate([k + [0, 1, _BEAMS], k + [1, _BEAMS + 1, _BEAMS]])
    scene.add(Mesh(corners, faces), material=Lambertian(reflectance=0.5))
    env = Environment(scene, Static(step_s=0.1), seed=seed)
    sensor = env.attach(lidar)
    env.step()
    first, second = sensor.read().range_m.reshape(2, -1).astype(np.float64)
    apart = np.abs(first - second)[(first > 0.0) & (second > 0.0) & (first != second)]
    if len(apart) < 20:
        return None
    return Figure("separation.least", *_of(least_separation(apart)), len(apart))


def _of(found: Any) -> tuple[float, str, float, float]:
    return found.value, "m", found.low, found.high

