"""Sensorium: simulation of a robot's sensors.

`import sensorium as sn` gives every public name; each module loads when its name is first used, so that importing the
package costs next to nothing and slow packages load only where they are needed.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> module that defines it; those of sensors are in their registrations (`sensors/built_in.py`)
_NAMES = {
    "Pose": "sensorium.core.frames",
    "Mesh": "sensorium.scene.mesh",
    "Scene": "sensorium.scene.scene",
    "SceneObject": "sensorium.scene.scene",
    "SceneBatch": "sensorium.scene.batch",
    "Scatter": "sensorium.scene.scattering.scatter",
    "ClearZone": "sensorium.scene.scattering.scatter",
    "RayCaster": "sensorium.tracing.caster",
    "Hits": "sensorium.tracing.rays",
    "PartitionedCaster": "sensorium.tracing.partitioned.caster",
    "WarpCaster": "sensorium.tracing.warp.caster",
    "MeshFile": "sensorium.scene.partition.split",
    "split_scene": "sensorium.scene.partition.split",
    "SceneInParts": "sensorium.scene.partition.in_parts",
    "Environment": "sensorium.environment",
    "AttachedSensor": "sensorium.sensors.common.attached",
    "Timing": "sensorium.sensors.common.spec",
    "Randomization": "sensorium.sensors.common.randomization",
    "Placement": "sensorium.sensors.common.randomization",
    "Intrinsics": "sensorium.sensors.common.randomization",
    "Lambertian": "sensorium.physics.materials",
    "TwoLayer": "sensorium.physics.materials",
    "Dielectric": "sensorium.physics.materials",
    "ThinGlass": "sensorium.physics.materials",
    "Mirror": "sensorium.physics.materials",
    "Retroreflector": "sensorium.physics.materials",
    "get_threads": "sensorium.runtime.worker_pool",
    "set_threads": "sensorium.runtime.worker_pool",
    "SensoriumError": "sensorium.core.errors",
}

# public module -> where it is
_MODULES = {
    "analysis": "sensorium.analysis",
    "clock": "sensorium.core.clock",
    "cluster": "sensorium.runtime.cluster",
    "cone": "sensorium.physics.cone",
    "corruption": "sensorium.corruption",
    "devices": "sensorium.devices",
    "errors": "sensorium.core.errors",
    "fields": "sensorium.physics.fields",
    "frames": "sensorium.core.frames",
    "imaging": "sensorium.physics.imaging",
    "live": "sensorium.live",
    "materials": "sensorium.physics.materials",
    "media": "sensorium.physics.media",
    "optics": "sensorium.physics.optics",
    "paths": "sensorium.worlds.paths",
    "patterns": "sensorium.patterns",
    "radar": "sensorium.sensors.radar",
    "random": "sensorium.random",
    "record": "sensorium.record",
    "recordings": "sensorium.recordings",
    "scenario": "sensorium.app.scenario",
    "shapes": "sensorium.scene.shapes",
    "trees": "sensorium.scene.trees",
    "view": "sensorium.view",
    "waveform": "sensorium.sensors.lidar.waveform",
    "worlds": "sensorium.worlds",
}


def _names_of_sensors() -> dict[str, str]:
    """Public names of sensors, each with the module that defines it."""
    return importlib.import_module("sensorium.sensors.registry").public_names()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        value = importlib.import_module(_MODULES[name])
        vars(value)["__dir__"] = value.__all__.copy  # dir() shows public names, not what the module imports
    else:
        module = _NAMES.get(name) or ("" if name.startswith("_") else _names_of_sensors().get(name))
        if not module:
            raise AttributeError(f"module 'sensorium' has no attribute {name!r}")
        value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({"__version__", *_NAMES, *_names_of_sensors(), *_MODULES})


if TYPE_CHECKING:
    from sensorium import analysis, corruption, devices, live, patterns, random, record, recordings, view, worlds
    from sensorium.app import scenario
    from sensorium.core import clock, errors, frames
    from sensorium.core.errors import SensoriumError
    from sensorium.core.frames import Pose
    from sensorium.environment import Environment
    from sensorium.physics import cone, fields, imaging, materials, media, optics
    from sensorium.physics.materials import Dielectric, Lambertian, Mirror, Retroreflector, ThinGlass, TwoLayer
    from sensorium.runtime import cluster
    from sensorium.runtime.worker_pool import get_threads, set_threads
    from sensorium.scene import shapes, trees
    from sensorium.scene.batch import SceneBatch
    from sensorium.scene.mesh import Mesh
    from sensorium.scene.partition.in_parts import SceneInParts
    from sensorium.scene.partition.split import MeshFile, split_scene
    from sensorium.scene.scattering.scatter import ClearZone, Scatter
    from sensorium.scene.scene import Scene, SceneObject
    from sensorium.sensors import radar
    from sensorium.sensors.barometer import Barometer, BarometerReading
    from sensorium.sensors.camera.camera import Adc, Camera
    from sensorium.sensors.camera.image import CameraImage
    from sensorium.sensors.common.attached import AttachedSensor
    from sensorium.sensors.common.randomization import Intrinsics, Placement, Randomization
    from sensorium.sensors.common.spec import Timing
    from sensorium.sensors.cone.reading import ConeReading
    from sensorium.sensors.cone.sensor import ConeSensor
    from sensorium.sensors.cone.verdict import Verdict
    from sensorium.sensors.depth_camera.depth_camera import DepthCamera, DepthNoise
    from sensorium.sensors.depth_camera.image import DepthImage
    from sensorium.sensors.gnss import Gnss, GnssReading
    from sensorium.sensors.inertial.imu import Imu
    from sensorium.sensors.inertial.reading import InertialReading
    from sensorium.sensors.inertial.triads import Accelerometer, Gyroscope, Magnetometer
    from sensorium.sensors.joints.encoder import Encoder
    from sensorium.sensors.joints.encoder_reading import EncoderReading
    from sensorium.sensors.joints.odometer import Odometer, OdometerReading
    from sensorium.sensors.lidar import waveform
    from sensorium.sensors.lidar.beam import Beam
    from sensorium.sensors.lidar.blooming import Blooming
    from sensorium.sensors.lidar.crosstalk import Crosstalk
    from sensorium.sensors.lidar.detection_limit import DetectionLimit, StatedRange
    from sensorium.sensors.lidar.errors.range_noise import RangeNoise, SignalNoise
    from sensorium.sensors.lidar.intensity_scale import IntensityScale
    from sensorium.sensors.lidar.lidar import Lidar
    from sensorium.sensors.lidar.pulse_repetition import PulseRepetition
    from sensorium.sensors.lidar.range_image import RangeImage
    from sensorium.sensors.lidar.receiver import Receiver
    from sensorium.sensors.lidar.saturation import Saturation
    from sensorium.sensors.lidar.scan import Cause, Scan
    from sensorium.sensors.radar.reading import EchoCause, RadarReading
    from sensorium.sensors.radar.spec import Radar
    from sensorium.sensors.ray_sensor.ray_hits import RayHits
    from sensorium.sensors.ray_sensor.ray_sensor import RayReading, RaySensor
    from sensorium.sensors.sun_sensor import SunSensor, SunSensorReading
    from sensorium.tracing.caster import RayCaster
    from sensorium.tracing.partitioned.caster import PartitionedCaster
    from sensorium.tracing.rays import Hits
    from sensorium.tracing.warp.caster import WarpCaster
    from sensorium.worlds import paths

__all__ = [
    "Accelerometer",
    "Adc",
    "AttachedSensor",
    "Barometer",
    "BarometerReading",
    "Beam",
    "Blooming",
    "Camera",
    "CameraImage",
    "Cause",
    "ClearZone",
    "ConeReading",
    "ConeSensor",
    "Crosstalk",
    "DepthCamera",
    "DepthImage",
    "DepthNoise",
    "DetectionLimit",
    "Dielectric",
    "EchoCause",
    "Encoder",
    "EncoderReading",
    "Environment",
    "Gnss",
    "GnssReading",
    "Gyroscope",
    "Hits",
    "Imu",
    "InertialReading",
    "IntensityScale",
    "Intrinsics",
    "Lambertian",
    "Lidar",
    "Magnetometer",
    "Mesh",
    "MeshFile",
    "Mirror",
    "Odometer",
    "OdometerReading",
    "PartitionedCaster",
    "Placement",
    "Pose",
    "PulseRepetition",
    "Radar",
    "RadarReading",
    "Randomization",
    "RangeImage",
    "RangeNoise",
    "RayCaster",
    "RayHits",
    "RayReading",
    "RaySensor",
    "Receiver",
    "Retroreflector",
    "Saturation",
    "Scan",
    "Scatter",
    "Scene",
    "SceneBatch",
    "SceneInParts",
    "SceneObject",
    "SensoriumError",
    "SignalNoise",
    "StatedRange",
    "SunSensor",
    "SunSensorReading",
    "ThinGlass",
    "Timing",
    "TwoLayer",
    "Verdict",
    "WarpCaster",
    "analysis",
    "clock",
    "cluster",
    "cone",
    "corruption",
    "devices",
    "errors",
    "fields",
    "frames",
    "get_threads",
    "imaging",
    "live",
    "materials",
    "media",
    "optics",
    "paths",
    "patterns",
    "radar",
    "random",
    "record",
    "recordings",
    "scenario",
    "set_threads",
    "shapes",
    "split_scene",
    "trees",
    "view",
    "waveform",
    "worlds",
]
