"""The sensors of the library, one registration each; `registry.py` says what each field means."""

from collections.abc import Mapping
from typing import Any

from sensorium.sensors.registry import Sample, SensorKind

# For the determinism checks: mounts, rates, and what is compared of scans
_ON_CAR: Mapping[str, Any] = {"body": "car", "position": (0.0, 0.0, 1.2), "hide": ("car",)}
_IN_CAR: Mapping[str, Any] = {"body": "car"}
_ON_WHEEL: Mapping[str, Any] = {"joint": "wheel"}
_SLOW, _FAST = {"rate_hz": 10.0}, {"rate_hz": 50.0}
_GEOMETRY = ("points", "label", "range_m", "object_id", "face_id")
_LIGHT = ("points", "intensity", "label", "cause", "range_m", "object_id", "face_id", "depth", "mirror_id")

_SPINNING: Mapping[str, Any] = {
    "kind": "spinning", "elevation_deg": (8.0, 4.0, 0.0, -4.0, -8.0, -12.0, -16.0, -20.0), "columns": 120, **_SLOW,
}  # fmt: skip
_RASTER: Mapping[str, Any] = {
    "kind": "raster", "height": 4, "width": 6, "horizontal_fov_deg": (-20.0, 20.0), "vertical_fov_deg": (-15.0, 5.0),
    "firing": "columns", **_SLOW,
}  # fmt: skip
_RANGE_NOISE: Mapping[str, Any] = {"base_m": 0.01, "slope": 1e-3, "dropout": 0.05}
_NOISE: Mapping[str, Any] = {"std": 0.01, "walk": 1e-3}

_INERTIAL_READING = "sensorium.sensors.inertial.reading:InertialReading"
_INERTIAL_MESSAGES = "sensorium.record.ros2.inertial:inertial"
_INERTIAL_OUTPUTS = ("acceleration", "angular_velocity", "delta_velocity")

BUILT_IN: Mapping[str, SensorKind] = {
    "lidar": SensorKind(
        spec="sensorium.sensors.lidar.lidar:Lidar",
        reading="sensorium.sensors.lidar.scan:Scan",
        messages="sensorium.record.ros2.readings:scan_messages",
        table="none",
        samples={
            "lidar": Sample({"pattern": _SPINNING, "noise": _RANGE_NOISE}, _GEOMETRY, _ON_CAR),
            "light": Sample(
                {"pattern": _SPINNING, "mode": "relative", "max_depth": 1, "noise": _RANGE_NOISE}, _LIGHT, _ON_CAR
            ),
            "waveform": Sample(
                {
                    "pattern": _RASTER,
                    "max_range_m": 44.968868699999994,
                    "mode": "waveform",
                    "beam": {"half_divergence_rad": 0.005, "exit_radius_m": 0.0125, "pulse_s": 4e-9},
                    "receiver": {
                        "peak_power_W": 70.0, "efficiency": 1.0, "length_m": 0.05, "width_m": 0.04,
                        "half_field_rad": 0.01, "noise_electrons": 0.0,
                    },
                    "waveform": {"rays": {"kind": "grid", "across": 5}, "stop_s": 300e-9, "shot_noise": False},
                    "max_depth": 1,
                },
                (*_LIGHT, "width_s"),
                _ON_CAR,
            ),
        },
        public={
            "Beam": "sensorium.sensors.lidar.beam",
            "Blooming": "sensorium.sensors.lidar.blooming",
            "Cause": "sensorium.sensors.lidar.scan",
            "Crosstalk": "sensorium.sensors.lidar.crosstalk",
            "DetectionLimit": "sensorium.sensors.lidar.detection_limit",
            "IntensityScale": "sensorium.sensors.lidar.intensity_scale",
            "PulseRepetition": "sensorium.sensors.lidar.pulse_repetition",
            "RangeImage": "sensorium.sensors.lidar.range_image",
            "RangeNoise": "sensorium.sensors.lidar.errors.range_noise",
            "Receiver": "sensorium.sensors.lidar.receiver",
            "Saturation": "sensorium.sensors.lidar.saturation",
            "Scan": "sensorium.sensors.lidar.scan",
            "SignalNoise": "sensorium.sensors.lidar.errors.range_noise",
            "StatedRange": "sensorium.sensors.lidar.detection_limit",
        },
    ),
    "camera": SensorKind(
        spec="sensorium.sensors.camera.camera:Camera",
        reading="sensorium.sensors.camera.image:CameraImage",
        messages="sensorium.record.ros2.camera:camera",
        samples={
            "camera": Sample(
                {
                    "pupil_distance_m": 6.0001e-3, "width_m": 6.4e-3, "height_m": 4.8e-3, "columns": 32, "rows": 24,
                    "focal_length_m": 6e-3, "pupil_radius_m": 0.5e-3, "exposure_s": 1e-3, "sample_factor": 1,
                    "pupil_rays": 1, "noise": {"read_noise_e": 5.0}, "timing": _SLOW,
                },
                ("image",),
                _ON_CAR,
            ),
        },
        public={"Adc": "sensorium.sensors.camera.camera", "CameraImage": "sensorium.sensors.camera.image"},
    ),
    "depth_camera": SensorKind(
        spec="sensorium.sensors.depth_camera.depth_camera:DepthCamera",
        reading="sensorium.sensors.depth_camera.image:DepthImage",
        messages="sensorium.record.ros2.depth_camera:depth_camera",
        samples={
            "depth_camera": Sample(
                {
                    "pattern": {
                        "kind": "pinhole", "width": 48, "height": 27, "focal_px": (28.602086222261043,) * 2, **_SLOW,
                    },
                    "outputs": ("depth", "segmentation", "normals"),
                    "max_range_m": 30.0,
                    "noise": {"multiplier": 0.01, "dropout": 0.02},
                },
                ("depth_m", "segmentation", "normals"),
                _ON_CAR,
            ),
        },
        public={
            "DepthImage": "sensorium.sensors.depth_camera.image",
            "DepthNoise": "sensorium.sensors.depth_camera.depth_camera",
        },
    ),
    "imu": SensorKind(
        spec="sensorium.sensors.inertial.imu:Imu",
        reading=_INERTIAL_READING,
        messages=_INERTIAL_MESSAGES,
        samples={
            "imu": Sample(
                {
                    "timing": _FAST, "linear": {"noise": _NOISE}, "angular": {"noise": _NOISE},
                    "outputs": _INERTIAL_OUTPUTS,
                },
                _INERTIAL_OUTPUTS,
                _IN_CAR,
            ),
        },
        public={"InertialReading": "sensorium.sensors.inertial.reading"},
    ),
    "accelerometer": SensorKind(
        spec="sensorium.sensors.inertial.triads:Accelerometer",
        reading=_INERTIAL_READING,
        messages=_INERTIAL_MESSAGES,
    ),
    "gyroscope": SensorKind(
        spec="sensorium.sensors.inertial.triads:Gyroscope", reading=_INERTIAL_READING, messages=_INERTIAL_MESSAGES
    ),
    "magnetometer": SensorKind(
        spec="sensorium.sensors.inertial.triads:Magnetometer",
        reading=_INERTIAL_READING,
        messages=_INERTIAL_MESSAGES,
        samples={"magnetometer": Sample({"timing": _FAST, "noise": {"std": 1e-8}}, ("magnetic_field",), _IN_CAR)},
    ),
    "encoder": SensorKind(
        spec="sensorium.sensors.joints.encoder:Encoder",
        reading="sensorium.sensors.joints.encoder_reading:EncoderReading",
        messages="sensorium.record.ros2.joints:joint_state",
        samples={
            "encoder": Sample(
                {"timing": _FAST, "noise": {"std": 1e-3}, "counts_per_turn": 1024}, ("position", "velocity"), _ON_WHEEL
            ),
        },
        public={"EncoderReading": "sensorium.sensors.joints.encoder_reading"},
    ),
    "odometer": SensorKind(
        spec="sensorium.sensors.joints.odometer:Odometer",
        reading="sensorium.sensors.joints.odometer:OdometerReading",
        messages="sensorium.record.ros2.joints:odometry",
        samples={
            "odometer": Sample(
                {"timing": _FAST, "radius_m": 0.3, "noise": {"std": 1e-3}}, ("distance", "velocity"), _ON_WHEEL
            ),
        },
        public={"OdometerReading": "sensorium.sensors.joints.odometer"},
    ),
    "gnss": SensorKind(
        spec="sensorium.sensors.gnss:Gnss",
        reading="sensorium.sensors.gnss:GnssReading",
        messages="sensorium.record.ros2.satellite:satellite",
        samples={
            "gnss": Sample(
                {"timing": _FAST, "hdop": 1.0, "vdop": 1.5, "uere_m": 1.0}, ("position", "velocity"), _IN_CAR
            ),
        },
        public={"GnssReading": "sensorium.sensors.gnss"},
    ),
    "barometer": SensorKind(
        spec="sensorium.sensors.barometer:Barometer",
        reading="sensorium.sensors.barometer:BarometerReading",
        messages="sensorium.record.ros2.values:pressure",
        samples={"barometer": Sample({"timing": _FAST, "noise": {"std": 2.0}}, ("pressure_Pa",), _IN_CAR)},
        public={"BarometerReading": "sensorium.sensors.barometer"},
    ),
    "sun_sensor": SensorKind(
        spec="sensorium.sensors.sun_sensor:SunSensor",
        reading="sensorium.sensors.sun_sensor:SunSensorReading",
        messages="sensorium.record.ros2.values:sun_cosine",
        samples={"sun_sensor": Sample({"timing": _FAST, "noise": {"std": 1e-3}}, ("cosine",), _IN_CAR)},
        public={"SunSensorReading": "sensorium.sensors.sun_sensor"},
    ),
    "cone": SensorKind(
        spec="sensorium.sensors.cone.sensor:ConeSensor",
        reading="sensorium.sensors.cone.reading:ConeReading",
        messages="sensorium.record.ros2.cone:cone",
        samples={
            "cone": Sample(
                {
                    "timing": _FAST,
                    "horizontal_fov_deg": 60.0,
                    "vertical_fov_deg": 40.0,
                    "range_m": 40.0,
                    "range": {"noise": {"std": 0.02}},
                },
                ("range_m", "point", "azimuth", "elevation"),
                _ON_CAR,
            ),
        },
        public={"ConeReading": "sensorium.sensors.cone.reading", "Verdict": "sensorium.sensors.cone.verdict"},
    ),
    "radar": SensorKind(
        spec="sensorium.sensors.radar.spec:Radar",
        reading="sensorium.sensors.radar.reading:RadarReading",
        messages="sensorium.record.ros2.radar:radar",
        table="sensorium.record.detections:DetectionTable",
        samples={
            "radar": Sample(
                {
                    "timing": _SLOW,
                    "chirp": {"bandwidth_hz": 149.896229e6, "ramp_s": 60e-6, "samples": 64, "chirps": 32},
                    "source": "rays",
                    "vertical_fov_deg": 10.0,
                    "ray_spacing_deg": 0.5,
                    "cross_sections": {"ball": 10.0},
                },
                ("range_m", "range_rate_m_s", "azimuth_rad", "power_W", "object_id", "valid"),
                _ON_CAR,
                only_valid=True,
            ),
        },
        public={"EchoCause": "sensorium.sensors.radar.reading", "RadarReading": "sensorium.sensors.radar.reading"},
    ),
}  # fmt: skip
"""Sensors that scenario files may name, by kind."""

BASES: tuple[SensorKind, ...] = (
    SensorKind(
        spec="sensorium.sensors.ray_sensor.ray_sensor:RaySensor",
        reading="sensorium.sensors.ray_sensor.ray_sensor:RayReading",
        messages="sensorium.record.ros2.values:ray_values",
        public={
            "RayHits": "sensorium.sensors.ray_sensor.ray_hits",
            "RayReading": "sensorium.sensors.ray_sensor.ray_sensor",
        },
    ),
)
"""Bases of sensors of users, which have no kind of their own."""
