"""tf2_msgs/TFMessage: where bodies are, and where sensors sit on them."""

from collections.abc import Sequence

from sensorium.frames import Pose
from sensorium.record.ros2.message import Message, header, quaternion, vector
from sensorium.record.ros2.source import Source, world_prefix


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
    """Where a sensor, or each of several, sits on its body."""
    rig = source.rig
    X_BS = rig.X_BS.reshape((1, -1)).broadcast_to((rig.worlds, rig.sensors)).reshape(-1)
    parents = [
        f"{world_prefix(rig, world)}{source.body or 'world'}" for world in range(rig.worlds) for _ in range(rig.sensors)
    ]
    return transforms(X_BS, parents, source.frames, stamp_ns)
