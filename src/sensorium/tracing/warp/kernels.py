"""Kernels of the Warp back end: placing meshes in many worlds, and the nearest hits of rays into them.

They run on a CUDA device or on Warp's CPU device. Warp is an extra, so this file is imported only when a caster is
created, see `warp_device`. Each world is one group of a tree of boxes over all placed meshes ("instances"); below it
are Warp's own trees of triangles, one per mesh. Warp orders quaternions x y z w, weights a hit's first two vertices by
u and v (here it is the second and third, as with Embree), and finds hits nearer than a limit, never at it.
"""

import warp as wp

from sensorium.tracing.warp import tables

# Nothing here is differentiated; gradients would double what Warp compiles
wp.set_module_options({"enable_backward": False})

# Boxes are widened by this share of their size and distance, since rays and corners are rounded to float32
_WIDER = wp.constant(wp.float32(4e-6))

# Quaternions nearer than this are mixed along the chord: the arc differs by less than float32 can tell
_SMALL_ANGLE = wp.constant(wp.float32(1e-3))

# --- placing --------------------------------------------------------------------------------------------------------


@wp.kernel
def place(scene: tables.Instances, anchor: tables.Points, lower: tables.Vectors, upper: tables.Vectors):
    """Place each instance at the first knot, and compute the box of its whole motion.

    Over an instant the box is that of the turned bounds. Over an interval it holds a ball around the middle at every
    knot; between two knots the middle leaves the chord by phi^2 d / 8 at most, phi the turn and d the distance of the
    middle from the body's origin (the error of linear interpolation of a circle).
    """
    i = wp.tid()
    body, origin = scene.body[i], anchor[scene.world[i]]
    half = scene.half_size[i]
    middle, turn = scene.mount_position[i], scene.mount_turn[i]
    if body < 0:
        at = wp.vec3f(middle - origin)
        scene.position[i] = at
        scene.turn[i] = wp.quatf(turn)
        reach = _turned_box(wp.quatf(turn), half)
        widened = reach + _widening(at, half)
        lower[i] = at - widened
        upper[i] = at + widened
        return

    knots = scene.body_position.shape[0]
    away, radius = wp.float32(wp.length(middle)), wp.length(half)
    before = scene.body_turn[0, body]
    low, high = wp.vec3f(0.0), wp.vec3f(0.0)
    sag = wp.float32(0.0)
    for knot in range(knots):
        q = scene.body_turn[knot, body]
        at = wp.vec3f(scene.body_position[knot, body] + wp.quat_rotate(q, middle) - origin)
        if knot == 0:
            whole = wp.quatf(q * turn)
            scene.position[i] = at
            scene.turn[i] = whole
            low = at
            high = at
            if knots == 1:
                reach = _turned_box(whole, half)
                low = at - reach
                high = at + reach
        else:
            angle = 2.0 * wp.acos(wp.min(wp.abs(wp.float32(wp.dot(before, q))), 1.0))
            sag = wp.max(sag, angle * angle * away / 8.0)
            low = wp.min(low, at)
            high = wp.max(high, at)
        before = q
    widened = _widening(low, half) + _widening(high, half)
    if knots > 1:
        # acos of a rounded cosine is off by up to 5e-4 rad
        widened = widened + wp.vec3f(radius + sag + 1.0e-3 * away)
    lower[i] = low - widened
    upper[i] = high + widened


@wp.func
def _turned_box(q: wp.quatf, half: wp.vec3f) -> wp.vec3f:
    """Half sizes of the box around a box that is turned: |R| h."""
    r = wp.quat_to_matrix(q)
    return wp.vec3f(
        wp.abs(r[0, 0]) * half[0] + wp.abs(r[0, 1]) * half[1] + wp.abs(r[0, 2]) * half[2],
        wp.abs(r[1, 0]) * half[0] + wp.abs(r[1, 1]) * half[1] + wp.abs(r[1, 2]) * half[2],
        wp.abs(r[2, 0]) * half[0] + wp.abs(r[2, 1]) * half[1] + wp.abs(r[2, 2]) * half[2],
    )


@wp.func
def _widening(at: wp.vec3f, half: wp.vec3f) -> wp.vec3f:
    """Rounding margin of a box there."""
    return wp.vec3f(_WIDER * (wp.length(at) + wp.length(half)))


@wp.kernel
def find_roots(tree: wp.uint64, group: tables.Ints, roots: tables.Ints):
    """Root of the tree of each world; -1 where it has none."""
    world = wp.tid()
    root = wp.int32(-1)
    if group[world] >= 0:
        root = wp.bvh_get_group_root(tree, group[world])
    roots[world] = root


# --- casting --------------------------------------------------------------------------------------------------------


@wp.kernel
def cast_rays(
    tree: tables.Tree,
    scene: tables.Instances,
    labels: tables.Labels,
    hide: tables.Ints,
    origin: tables.Points,
    direction: tables.Vectors,
    time: tables.Floats,
    t_max: tables.Floats,
    world: tables.Ints,
    out: tables.RayHits,
):
    """Trace given rays: origins in the world, unit directions, times as fractions of the interval."""
    i = wp.tid()
    start = wp.vec3f(origin[i] - tree.anchor[world[i]])
    hit = _nearest(tree, scene, hide, world[i], start, direction[i], time[i], t_max[i])
    if hit.instance < 0:
        out.range_m[i] = wp.float32(wp.inf)
        out.normal[i] = wp.vec3f(0.0)
        out.object_id[i] = -1
        out.face_id[i] = -1
        out.label[i] = -1
        out.barycentric[i] = wp.vec2f(0.0)
        return
    column = scene.column[hit.instance]
    out.range_m[i] = hit.range_m
    out.normal[i] = hit.normal
    out.object_id[i] = column
    out.face_id[i] = hit.face
    out.label[i] = _label(labels, world[i], column, hit.face)
    out.barycentric[i] = wp.vec2f(hit.v, 1.0 - hit.u - hit.v)


@wp.kernel
def cast_images(
    tree: tables.Tree,
    scene: tables.Instances,
    labels: tables.Labels,
    hide: tables.Ints,
    direction_S: tables.Vectors,
    origin_S: tables.Vectors,
    position: tables.Points,
    turn: tables.Turns,
    world: tables.Ints,
    time: wp.float32,
    t_max: wp.float32,
    out: tables.ImageHits,
):
    """Fire one table of rays from each head: a step transfers only the poses of the heads to the device."""
    head, ray = wp.tid()
    w = world[head]
    start = wp.vec3f(position[head] - tree.anchor[w])
    if origin_S.shape[0] > 0:
        start = start + wp.quat_rotate(turn[head], origin_S[ray])
    ray_S = direction_S[ray]
    hit = _nearest(tree, scene, hide, w, start, wp.quat_rotate(turn[head], ray_S), time, t_max)
    i = head * direction_S.shape[0] + ray
    column = wp.int32(-1)
    if hit.instance >= 0:
        column = scene.column[hit.instance]
    if out.range_m.shape[0] > 0:
        out.range_m[i] = hit.range_m
    if out.depth_m.shape[0] > 0:
        depth = wp.float32(wp.inf)
        if column >= 0:
            depth = hit.range_m * ray_S[0]
        out.depth_m[i] = depth
    if out.normal.shape[0] > 0:
        out.normal[i] = hit.normal
    if out.object_id.shape[0] > 0:
        out.object_id[i] = column
    if out.face_id.shape[0] > 0:
        out.face_id[i] = hit.face
    if out.label.shape[0] > 0:
        label = wp.int32(-1)
        if column >= 0:
            label = _label(labels, w, column, hit.face)
        out.label[i] = label


@wp.func
def _nearest(
    tree: tables.Tree,
    scene: tables.Instances,
    hide: tables.Ints,
    world: wp.int32,
    start: wp.vec3f,
    direction: wp.vec3f,
    time: wp.float32,
    t_max: wp.float32,
) -> tables.Nearest:
    """Nearest hit of a ray, from a start counted from the world's anchor; its normal in world axes."""
    best = tables.Nearest()
    best.instance = -1
    best.face = -1
    best.range_m = wp.float32(wp.inf)
    root = tree.root[world]
    if root < 0:
        return best

    limit = t_max
    i = wp.int32(0)
    query = wp.bvh_query_ray(tree.handle, start, _without_zeros(direction), root)
    while wp.bvh_query_next(query, i, limit):
        own = scene.hidden_as[i]
        seen = own < 0
        if own >= 0:
            seen = hide[own] == 0
        if seen:
            # Into the mesh's own frame at the firing time
            at, turn = _standing(scene, i, tree.anchor[world], time)
            found = wp.mesh_query_ray(
                scene.mesh[i], wp.quat_rotate_inv(turn, start - at), wp.quat_rotate_inv(turn, direction), limit
            )
            if found.result:
                limit = found.t
                best.instance = i
                best.face = found.face
                best.range_m = found.t
                best.u = found.u
                best.v = found.v
                best.normal = wp.quat_rotate(turn, found.normal)
    return best


@wp.func
def _standing(scene: tables.Instances, i: wp.int32, anchor: wp.vec3d, time: wp.float32):
    """Pose of an instance within the interval: its body linearly and by slerp between knots, then its mount."""
    body = scene.body[i]
    segments = scene.body_position.shape[0] - 1
    if body < 0 or segments == 0:
        return scene.position[i], scene.turn[i]
    place = time * wp.float32(segments)
    knot = wp.min(wp.int32(place), segments - 1)
    s = place - wp.float32(knot)
    p = wp.lerp(scene.body_position[knot, body], scene.body_position[knot + 1, body], wp.float64(s))
    q = _slerp(wp.quatf(scene.body_turn[knot, body]), wp.quatf(scene.body_turn[knot + 1, body]), s)
    at = wp.vec3f(p - anchor) + wp.quat_rotate(q, wp.vec3f(scene.mount_position[i]))
    return at, q * wp.quatf(scene.mount_turn[i])


@wp.func
def _slerp(a: wp.quatf, b: wp.quatf, s: wp.float32) -> wp.quatf:
    """The rotation a fraction s of the shorter way from a to b."""
    cosine = wp.dot(a, b)
    end = b
    if cosine < 0.0:
        end = -b
        cosine = -cosine
    angle = wp.acos(wp.min(cosine, 1.0))
    wa, wb = 1.0 - s, s
    if angle > _SMALL_ANGLE:
        wa = wp.sin((1.0 - s) * angle) / wp.sin(angle)
        wb = wp.sin(s * angle) / wp.sin(angle)
    return wp.normalize(wa * a + wb * end)


@wp.func
def _without_zeros(direction: wp.vec3f) -> wp.vec3f:
    """A direction whose inverse is finite: the tree's test multiplies it by distances that may be zero."""
    safe = direction
    for k in range(3):
        if safe[k] == 0.0:
            safe[k] = 1.0e-20
    return safe


@wp.func
def _label(labels: tables.Labels, world: wp.int32, column: wp.int32, face: wp.int32) -> wp.int32:
    """Label of a face: the mesh's own where it has labels of faces, else the object's."""
    row = wp.min(world, labels.of_object.shape[0] - 1)
    first = labels.face_first[row, column]
    if first >= 0:
        return labels.of_face[first + face]
    return labels.of_object[row, column]
