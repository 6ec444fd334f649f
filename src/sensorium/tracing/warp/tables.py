"""Inputs and outputs of the Warp kernels: placed meshes, the tree around them, labels, hits.

Warp is an extra, so this file is imported only when a caster is created, see `warp_device`.
"""

import warp as wp

Floats = wp.array(dtype=wp.float32)
Ints = wp.array(dtype=wp.int32)
IntTable = wp.array2d(dtype=wp.int32)
Vectors = wp.array(dtype=wp.vec3f)
Points = wp.array(dtype=wp.vec3d)
PointTable = wp.array2d(dtype=wp.vec3d)
Turns = wp.array(dtype=wp.quatf)
DoubleTurns = wp.array(dtype=wp.quatd)
TurnTable = wp.array2d(dtype=wp.quatd)
Handles = wp.array(dtype=wp.uint64)
Pairs = wp.array(dtype=wp.vec2f)


@wp.struct
class Instances:
    """Meshes in their worlds; all arrays but those of bodies have one entry an instance."""

    mesh: Handles  # Warp's mesh, stored around the middle of its bounds
    half_size: Vectors  # of the mesh's bounds [m]
    world: Ints
    column: Ints  # object, as numbered in its world
    body: Ints  # world * bodies + body, or -1 for what is fixed in the world
    hidden_as: Ints  # body, or -1: which entry of a cast's `hide` counts
    mount_position: Points  # of the mesh's middle on its body [m], or in the world
    mount_turn: DoubleTurns
    body_position: PointTable  # (knots, worlds * bodies) p_WB [m]
    body_turn: TurnTable
    position: Vectors  # p_AO at the first knot [m]
    turn: Turns


@wp.struct
class Tree:
    """Boxes around the instances: a tree with a root for each world, -1 where it is empty."""

    handle: wp.uint64
    root: Ints
    anchor: Points  # (worlds,) where float32 coordinates count from [m]


@wp.struct
class Labels:
    """Labels of objects and faces; tables have a row for each world, or one for all."""

    of_object: IntTable
    face_first: IntTable  # start in of_face, -1 where the mesh has no labels of its own
    of_face: Ints


@wp.struct
class Nearest:
    """Nearest hit of one ray; instance -1 where there is none."""

    instance: wp.int32
    face: wp.int32
    range_m: wp.float32
    u: wp.float32
    v: wp.float32
    normal: wp.vec3f


@wp.struct
class RayHits:
    """Outputs of `cast_rays`, one entry per ray."""

    range_m: Floats
    normal: Vectors
    object_id: Ints
    face_id: Ints
    label: Ints
    barycentric: Pairs


@wp.struct
class ImageHits:
    """Outputs of `cast_images`, one entry per ray of a head; outputs that were not requested have no entries."""

    range_m: Floats
    depth_m: Floats
    normal: Vectors
    object_id: Ints
    face_id: Ints
    label: Ints
