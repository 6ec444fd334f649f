"""Topics of a whole run: poses of bodies, mounts of sensors on them, time, and states of faults."""

from collections.abc import Sequence

import numpy as np

from sensorium.core.frames import Pose
from sensorium.corruption.faults.log import FaultEvent
from sensorium.environment import Environment
from sensorium.record.ros2.camera import OPTICAL
from sensorium.record.ros2.message import Message, Source, header, quaternion, time, vector, world_prefix
from sensorium.sensors.camera.camera import Camera
from sensorium.sensors.depth_camera.depth_camera import DepthCamera

# From x forward, y left, z up to z forward, x right, y down (REP 103); w x y z
_OPTICAL_QUATERNION = (0.5, -0.5, 0.5, -0.5)


def transforms(X_PC: Pose, parents: Sequence[str], children: Sequence[str], stamp_ns: int) -> Message:
    """Poses of frames C in their parents P, a batch of one axis."""
    rows = zip(X_PC.position, X_PC.quaternion, parents, children, strict=True)
    stamped = [
        {
            "header": header(stamp_ns, parent),
            "child_frame_id": child,
            "transform": {"translation": vector(position), "rotation": quaternion(q)},
        }
        for position, q, parent, child in rows
    ]
    return Message("tf2_msgs/msg/TFMessage", stamp_ns, {"transforms": stamped})


def mounts(source: Source, stamp_ns: int) -> Message:
    """Mount of a sensor, or of each of several, on its body; a camera also has its optical frame."""
    rig = source.rig
    X_BS = rig.X_BS.reshape((1, -1)).broadcast_to((rig.worlds, rig.sensors)).reshape(-1)
    parents = [
        f"{world_prefix(rig, world)}{source.body or 'world'}" for world in range(rig.worlds) for _ in range(rig.sensors)
    ]
    if not isinstance(source.spec, Camera | DepthCamera):
        return transforms(X_BS, parents, source.frames, stamp_ns)
    X_SO = Pose(np.zeros((len(parents), 3)), np.broadcast_to(_OPTICAL_QUATERNION, (len(parents), 4)))
    both = Pose(
        np.concatenate([X_BS.position, X_SO.position]), np.concatenate([X_BS.quaternion, X_SO.quaternion], axis=0)
    )
    optical = [frame + OPTICAL for frame in source.frames]
    return transforms(both, [*parents, *source.frames], [*source.frames, *optical], stamp_ns)


def clock(time_ns: int) -> Message:
    """Simulated time [ns]."""
    return Message("rosgraph_msgs/msg/Clock", time_ns, {"clock": time(time_ns)})


_OK, _ERROR = 0, 2


def fault_status(sensor: str, event: FaultEvent, time_ns: int) -> Message:
    """A fault that set in (level ERROR) or is over (level OK), with its times [ns] as values."""
    values = {"world": str(event.world), "start_ns": str(event.start_ns)}
    if event.end_ns is not None:
        values["end_ns"] = str(event.end_ns)
    status = {
        "level": _ERROR if event.end_ns is None else _OK,
        "name": f"{sensor}: {event.fault}",
        "message": "active" if event.end_ns is None else "over",
        "hardware_id": sensor,
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }
    return Message(
        "diagnostic_msgs/msg/DiagnosticArray", time_ns, {"header": header(time_ns, sensor), "status": [status]}
    )


def sensor_statuses(env: Environment) -> Message | None:
    """State of every sensor that has faults: OK, or ERROR with the active ones; None if no sensor has any."""
    statuses = []
    for sensor in env.sensors.values():
        if not sensor.spec.faults.faults:
            continue
        active = dict.fromkeys(event.fault for event in sensor.faults.log if event.end_ns is None)
        statuses.append(
            {
                "level": _ERROR if active else _OK,
                "name": sensor.name,
                "message": f"active: {', '.join(active)}" if active else "no active fault",
                "hardware_id": sensor.name,
                "values": [],
            }
        )
    if not statuses:
        return None
    fields = {"header": header(env.time_ns, ""), "status": statuses}
    return Message("diagnostic_msgs/msg/DiagnosticArray", env.time_ns, fields)


def true_pose(X_WS: Pose, row: int, source: Source, stamp_ns: int) -> Message:
    """Pose of one row in its world.

    Args:
        X_WS: Poses at the knots of a reading, batch shape (knots, worlds, sensors); the first counts.
        row: Number of the sensor, world by world.
        source: Whose reading it is.
        stamp_ns: Of the reading, by the sensor's clock [ns].
    """
    own = X_WS[0].reshape(-1)[row]
    pose = {"position": vector(own.position), "orientation": quaternion(own.quaternion)}
    fields = {"header": header(stamp_ns, source.roots[row]), "pose": pose}
    return Message("geometry_msgs/msg/PoseStamped", stamp_ns, fields)
