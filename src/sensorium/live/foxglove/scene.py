"""The objects of a scene as entities that Foxglove draws: bodies, meshes, labels."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sensorium.core.frames import Pose
from sensorium.environment import Environment
from sensorium.record.ros2.message import world_prefix
from sensorium.scene.batch import SceneBatch
from sensorium.scene.scene import Scene, SceneObject
from sensorium.view.plots import label_colors

# Triangles are sent up to this number; objects beyond it are drawn as boxes around them
MOST_TRIANGLES = 300_000

# Labels of objects that stand on no body are written up to this number
_MOST_TEXTS = 100
_TEXT_HEIGHT_M, _TEXT_GAP_M = 0.4, 0.4


def scene_bytes(env: Environment) -> tuple[bytes, Any] | None:
    """A `foxglove.SceneUpdate` of the first world, and its schema; None for a scene in parts, which is elsewhere.

    Every body is one entity in its own frame, which /tf moves, and all that stands still is another. Objects have the
    colors of their labels, and bodies their names above them.
    """
    from foxglove.messages import SceneUpdate

    objects = list(_objects(env.scene))
    if not objects:
        return None
    prefix = world_prefix(env, 0)
    colors = label_colors(env.scene.labels)
    by_body: dict[str | None, list[SceneObject]] = {}
    for one in objects:
        by_body.setdefault(one.body, []).append(one)
    budget = _Budget()
    entities = [_entity(body, group, prefix, env.scene.labels, colors, budget) for body, group in by_body.items()]
    update = SceneUpdate(entities=entities)
    return update.encode(), SceneUpdate.get_schema()


def _objects(scene: object) -> Iterator[SceneObject]:
    """Objects of a scene, or of the first world of a batch."""
    if isinstance(scene, Scene):
        yield from scene.objects
    elif isinstance(scene, SceneBatch):
        if scene.shared is not None:
            yield from scene.shared.objects
        poses = scene.pose.broadcast_to(scene.index.shape)
        for slot, asset_number in enumerate(scene.index[0].tolist()):
            if asset_number >= 0:
                asset = scene.assets[asset_number]
                pose = poses[0, slot] @ asset.pose
                yield SceneObject(asset.mesh, pose, scene.body[slot], asset.material, asset.label)


class _Budget:
    """Triangles that may still be sent."""

    def __init__(self) -> None:
        self._left = MOST_TRIANGLES

    def allows(self, triangles: int) -> bool:
        """Whether these may be sent too; they are then counted."""
        if triangles > self._left:
            return False
        self._left -= triangles
        return True


def _entity(
    body: str | None,
    objects: Iterable[SceneObject],
    prefix: str,
    labels: dict[str, int],
    colors: Any,
    budget: _Budget,
) -> Any:
    from foxglove.messages import Color, CubePrimitive, SceneEntity, TriangleListPrimitive, Vector3

    triangles, cubes = [], []
    texts: list[Any] = []
    top_m = -np.inf
    for one in objects:
        number = labels.get(one.label, 0) if isinstance(one.label, str) else int(one.label or 0)
        rgb = colors[number if number < len(colors) - 1 else 0]
        color = Color(r=float(rgb[0]), g=float(rgb[1]), b=float(rgb[2]), a=1.0)
        low, high = one.mesh.bounds
        if budget.allows(len(one.mesh.faces)):
            points = [_point(p) for p in one.mesh.vertices.tolist()]
            indices = one.mesh.faces.ravel().tolist()
            triangles.append(
                TriangleListPrimitive(pose=_pose(one.pose), points=points, color=color, indices=indices)
            )
        else:
            center = one.pose @ Pose((low + high) / 2)
            size = Vector3(x=float(high[0] - low[0]), y=float(high[1] - low[1]), z=float(high[2] - low[2]))
            cubes.append(CubePrimitive(pose=_pose(center), size=size, color=color))
        corners = one.pose.apply(np.array(list(itertools.product(*zip(low, high, strict=True)))))
        top_m = max(top_m, float(corners[:, 2].max()))
        if body is None and isinstance(one.label, str) and len(texts) < _MOST_TEXTS:
            middle = corners.mean(axis=0)
            texts.append(_text(one.name or one.label, (middle[0], middle[1], corners[:, 2].max() + _TEXT_GAP_M)))
    if body is not None:
        texts.append(_text(body, (0.0, 0.0, top_m + _TEXT_GAP_M)))
    return SceneEntity(
        frame_id=f"{prefix}{body or 'world'}",
        id=f"body {body}" if body is not None else "fixed",
        frame_locked=True,
        triangles=triangles,
        cubes=cubes,
        texts=texts,
    )


def _text(words: str, at: Iterable[float]) -> Any:
    from foxglove.messages import Color, TextPrimitive

    pose = _pose(Pose(np.array([*at], np.float64)))
    white = Color(r=1.0, g=1.0, b=1.0, a=1.0)
    return TextPrimitive(
        pose=pose, billboard=True, font_size=_TEXT_HEIGHT_M, scale_invariant=False, color=white, text=words
    )


def _pose(pose: Pose) -> Any:
    from foxglove.messages import Pose as FoxglovePose
    from foxglove.messages import Quaternion, Vector3

    x, y, z = (float(value) for value in pose.position)
    qw, qx, qy, qz = (float(value) for value in pose.quaternion)
    return FoxglovePose(position=Vector3(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def _point(xyz: Iterable[float]) -> Any:
    from foxglove.messages import Point3

    x, y, z = xyz
    return Point3(x=x, y=y, z=z)
