"""Sensorium: what a robot's sensors would report.

`import sensorium as sn` gives every public name; each module loads when its name is first used, so that importing the
package costs next to nothing and slow packages load only where they are needed.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> module that defines it
_NAMES = {
    "Pose": "sensorium.frames",
    "Mesh": "sensorium.scene.mesh",
    "Scene": "sensorium.scene.scene",
    "SceneObject": "sensorium.scene.scene",
    "SceneBatch": "sensorium.scene.batch",
    "Scatter": "sensorium.scene.scatter",
    "ClearZone": "sensorium.scene.scatter",
    "RayCaster": "sensorium.trace.caster",
    "Hits": "sensorium.trace.caster",
    "PartitionedCaster": "sensorium.trace.partitioned",
    "WarpCaster": "sensorium.trace.warp_caster",
    "MeshFile": "sensorium.scene.split",
    "split_scene": "sensorium.scene.split",
    "SceneInParts": "sensorium.scene.in_parts",
    "Environment": "sensorium.environment",
    "Timing": "sensorium.sensors.timing",
    "Lidar": "sensorium.sensors.lidar",
    "Camera": "sensorium.sensors.camera",
    "CameraImage": "sensorium.sensors.camera_image",
    "DepthCamera": "sensorium.sensors.depth_camera",
    "DepthImage": "sensorium.sensors.depth_image",
    "DepthNoise": "sensorium.sensors.depth_camera",
    "Randomization": "sensorium.sensors.randomization",
    "Placement": "sensorium.sensors.randomization",
    "Intrinsics": "sensorium.sensors.randomization",
    "Adc": "sensorium.sensors.camera",
    "Imu": "sensorium.sensors.imu",
    "Accelerometer": "sensorium.sensors.accelerometer",
    "Gyroscope": "sensorium.sensors.gyroscope",
    "Magnetometer": "sensorium.sensors.magnetometer",
    "InertialReading": "sensorium.sensors.inertial_reading",
    "Beam": "sensorium.sensors.beam",
    "RangeImage": "sensorium.sensors.range_image",
    "RangeNoise": "sensorium.sensors.range_noise",
    "Receiver": "sensorium.sensors.receiver",
    "DetectionLimit": "sensorium.sensors.detection_limit",
    "StatedRange": "sensorium.sensors.detection_limit",
    "IntensityScale": "sensorium.sensors.intensity_scale",
    "Saturation": "sensorium.sensors.saturation",
    "Blooming": "sensorium.sensors.blooming",
    "PulseRepetition": "sensorium.sensors.pulse_repetition",
    "Crosstalk": "sensorium.sensors.crosstalk",
    "Cause": "sensorium.sensors.scan",
    "Encoder": "sensorium.sensors.encoder",
    "EncoderReading": "sensorium.sensors.encoder_reading",
    "Odometer": "sensorium.sensors.odometer",
    "OdometerReading": "sensorium.sensors.odometer",
    "Gnss": "sensorium.sensors.gnss",
    "Radar": "sensorium.sensors.radar.spec",
    "RadarReading": "sensorium.sensors.radar.reading",
    "EchoCause": "sensorium.sensors.radar.reading",
    "Barometer": "sensorium.sensors.barometer",
    "SunSensor": "sensorium.sensors.sun_sensor",
    "RaySensor": "sensorium.sensors.ray_sensor",
    "RayReading": "sensorium.sensors.ray_sensor",
    "RayHits": "sensorium.sensors.ray_hits",
    "ConeSensor": "sensorium.sensors.cone_sensor",
    "ConeReading": "sensorium.sensors.cone_reading",
    "Verdict": "sensorium.sensors.cone_verdict",
    "Lambertian": "sensorium.materials",
    "TwoLayer": "sensorium.materials",
    "Dielectric": "sensorium.materials",
    "ThinGlass": "sensorium.materials",
    "Mirror": "sensorium.materials",
    "Retroreflector": "sensorium.materials",
    "Scan": "sensorium.sensors.scan",
    "set_threads": "sensorium.threads",
    "SensoriumError": "sensorium.errors",
}

_MODULES = (
    "analysis",
    "clock",
    "cluster",
    "cone",
    "corruption",
    "devices",
    "errors",
    "fields",
    "frames",
    "imaging",
    "materials",
    "media",
    "optics",
    "paths",
    "patterns",
    "radio",
    "random",
    "record",
    "scenario",
    "view",
    "worlds",
)

# modules reached through another name
_ALIASES = {
    "shapes": "sensorium.scene.shapes",
    "trees": "sensorium.scene.trees",
    "radar": "sensorium.sensors.radar",
    "waveform": "sensorium.sensors.waveform",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"sensorium.{name}")
    elif name in _ALIASES:
        value = importlib.import_module(_ALIASES[name])
    else:
        raise AttributeError(f"module 'sensorium' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({"__version__", *_NAMES, *_MODULES, *_ALIASES})


if TYPE_CHECKING:
    from sensorium import (
        analysis,
        clock,
        cluster,
        cone,
        corruption,
        devices,
        errors,
        fields,
        frames,
        imaging,
        materials,
        media,
        optics,
        paths,
        patterns,
        radio,
        random,
        record,
        scenario,
        view,
        worlds,
    )
    from sensorium.environment import Environment
    from sensorium.errors import SensoriumError
    from sensorium.frames import Pose
    from sensorium.materials import Dielectric, Lambertian, Mirror, Retroreflector, ThinGlass, TwoLayer
    from sensorium.scene import shapes, trees
    from sensorium.scene.batch import SceneBatch
    from sensorium.scene.in_parts import SceneInParts
    from sensorium.scene.mesh import Mesh
    from sensorium.scene.scatter import ClearZone, Scatter
    from sensorium.scene.scene import Scene, SceneObject
    from sensorium.scene.split import MeshFile, split_scene
    from sensorium.sensors import radar, waveform
    from sensorium.sensors.accelerometer import Accelerometer
    from sensorium.sensors.barometer import Barometer
    from sensorium.sensors.beam import Beam
    from sensorium.sensors.blooming import Blooming
    from sensorium.sensors.camera import Adc, Camera
    from sensorium.sensors.camera_image import CameraImage
    from sensorium.sensors.cone_reading import ConeReading
    from sensorium.sensors.cone_sensor import ConeSensor
    from sensorium.sensors.cone_verdict import Verdict
    from sensorium.sensors.crosstalk import Crosstalk
    from sensorium.sensors.depth_camera import DepthCamera, DepthNoise
    from sensorium.sensors.depth_image import DepthImage
    from sensorium.sensors.detection_limit import DetectionLimit, StatedRange
    from sensorium.sensors.encoder import Encoder
    from sensorium.sensors.encoder_reading import EncoderReading
    from sensorium.sensors.gnss import Gnss
    from sensorium.sensors.gyroscope import Gyroscope
    from sensorium.sensors.imu import Imu
    from sensorium.sensors.inertial_reading import InertialReading
    from sensorium.sensors.intensity_scale import IntensityScale
    from sensorium.sensors.lidar import Lidar
    from sensorium.sensors.magnetometer import Magnetometer
    from sensorium.sensors.odometer import Odometer, OdometerReading
    from sensorium.sensors.pulse_repetition import PulseRepetition
    from sensorium.sensors.radar.reading import EchoCause, RadarReading
    from sensorium.sensors.radar.spec import Radar
    from sensorium.sensors.randomization import Intrinsics, Placement, Randomization
    from sensorium.sensors.range_image import RangeImage
    from sensorium.sensors.range_noise import RangeNoise
    from sensorium.sensors.ray_hits import RayHits
    from sensorium.sensors.ray_sensor import RayReading, RaySensor
    from sensorium.sensors.receiver import Receiver
    from sensorium.sensors.saturation import Saturation
    from sensorium.sensors.scan import Cause, Scan
    from sensorium.sensors.sun_sensor import SunSensor
    from sensorium.sensors.timing import Timing
    from sensorium.threads import set_threads
    from sensorium.trace.caster import Hits, RayCaster
    from sensorium.trace.partitioned import PartitionedCaster
    from sensorium.trace.warp_caster import WarpCaster

__all__ = [
    "Accelerometer",
    "Adc",
    "Barometer",
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
    "StatedRange",
    "SunSensor",
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
    "imaging",
    "materials",
    "media",
    "optics",
    "paths",
    "patterns",
    "radar",
    "radio",
    "random",
    "record",
    "scenario",
    "set_threads",
    "shapes",
    "split_scene",
    "trees",
    "view",
    "waveform",
    "worlds",
]
