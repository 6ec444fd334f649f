"""The transforms written for Embree, interpolated as Embree does, against the truth: lines and slerp between knots."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.tracing.placement import motion
from sensorium.tracing.placement.scenes import PlacedScenes

RNG = np.random.default_rng


def classified(knots, radius_m=1.0):
    """Kind of motion that one body with these knots gets."""
    kind = np.zeros((1, 1), np.uint8)
    shape = (len(knots), 1, 1)
    positions, quaternions = (np.array(numbers, order="C") for numbers in (knots.position, knots.quaternion))
    positions, quaternions = positions.reshape(*shape, 3), quaternions.reshape(*shape, 4)
    motion.classify(0, 1, 1, positions, quaternions, np.full((1, 1), radius_m), kind)
    return int(kind[0, 0])


def turning(turn_deg, knots=11, position=(0, 0, 0)):
    return sn.Pose.from_euler_deg(np.tile(np.asarray(position, float), (knots, 1)), yaw=np.linspace(0, turn_deg, knots))


def truth(knots, t):
    """X_WB at fractions t of the interval."""
    at = np.asarray(t) * (len(knots) - 1)
    k = np.minimum(at.astype(int), len(knots) - 2)
    return knots[k].interpolate(knots[k + 1], at - k)


def written(placed, t):
    """X_AO of the first object at times t as Embree interpolates its buffer: matrices (times, 3, 4), and the kind."""
    buffer = placed.arrays.transforms(0, 0)[:, 0].astype(np.float64)
    kind, segments = placed.tables.kind[0], placed.tables.segments[0]
    at = np.asarray(t) * segments
    k = np.minimum(at.astype(int), max(segments - 1, 0))
    s = (at - k)[:, None]
    a, b = buffer[k], buffer[np.minimum(k + 1, segments)]
    if kind != motion.QUATERNION:
        return ((1 - s) * a + s * b).reshape(-1, 3, 4), kind
    # RTCQuaternionDecomposition: scale 3, skew 3, shift 3, quaternion 4, translation 3
    assert (buffer[:, :3] == 1).all()
    assert (buffer[:, 3:6] == 0).all()
    assert ((a[:, 9:13] * b[:, 9:13]).sum(axis=1) > -1e-6).all(), "neighbors lie on one half of the sphere"
    X = sn.Pose(a[:, 13:], a[:, 9:13]).interpolate(sn.Pose(b[:, 13:], b[:, 9:13]), s[:, 0])
    shift = (1 - s) * a[:, 6:9] + s * b[:, 6:9]
    return (X @ sn.Pose(shift)).matrix, kind


def placed_body(mesh, mount, knots, near=(0, 0, 0)):
    scene = sn.Scene()
    scene.add(mesh, pose=mount, body="body")
    placed = PlacedScenes(layout(scene, 1), 1, ("body",))
    positions, quaternions = knots.position[:, None, None], knots.quaternion[:, None, None]
    placed.place(np.array(positions), np.array(quaternions), np.array([near], float))
    return placed


MOUNT = sn.Pose((0.6, -0.3, 0.2), (0.8, 0.3, -0.1, 0.4))


def deviation_m(mesh, mount, knots, near=(0, 0, 0), samples=801):
    """Largest distance between a vertex as Embree sees it and where it truly is, and the kind of motion."""
    placed = placed_body(mesh, mount, knots, near)
    t = np.linspace(0, 1, samples)
    X_AO, kind = written(placed, t)
    local = mesh.vertices - placed._mesh_scenes[0].center
    seen = np.einsum("tij,vj->tvi", X_AO[:, :, :3], local) + X_AO[:, None, :, 3] + placed.anchor[0]
    true = (truth(knots, t) @ mount).reshape((-1, 1)).apply(mesh.vertices)
    return np.linalg.norm(seen - true, axis=-1).max(), kind


# float32 rounds transforms of a few meters to less than this
ROUNDING_M = 2e-6


def test_what_stands_still_is_placed():
    assert classified(turning(0.0)) == motion.PLACED
    assert classified(turning(1e-9)) > motion.PLACED


@pytest.mark.parametrize("doubling", range(motion.AFFINE_DOUBLINGS + 1))
def test_a_turn_takes_the_fewest_affine_segments_that_stay_within_tolerance(doubling):
    # one segment over an angle phi sinks by R (1 - cos(phi / 2)): the largest turn for 2^k segments
    radius = 1.5
    largest = 2 * np.arccos(1 - motion.TOLERANCE_M / radius) * 2**doubling
    inside = classified(turning(np.rad2deg(largest * 0.98), knots=2), radius)
    assert motion.segments_of(inside, 2) == 2**doubling
    outside = classified(turning(np.rad2deg(largest * 1.02), knots=2), radius)
    assert outside == motion.QUATERNION or motion.segments_of(outside, 2) > 2**doubling


def test_a_fast_turn_takes_quaternions():
    assert classified(turning(170.0, knots=2)) == motion.QUATERNION


def test_extent_counts():
    # the same turn is harmless for a ball and not for a long boom
    assert classified(turning(0.5), 0.1) < classified(turning(0.5), 30.0)


def test_straight_flight_is_one_segment_however_many_knots():
    straight = sn.Pose(np.linspace(0, 1, 101)[:, None] * [30.0, 5.0, -2.0])
    assert classified(straight) == motion.AFFINE


def test_acceleration_without_turning_needs_no_quaternions():
    """Between knots the truth is straight: segments from knot to knot are exact, and far cheaper to commit."""
    t = np.linspace(0, 0.1, 11)[:, None]
    for acceleration in (2.0, 10.0, 100.0):
        knots = sn.Pose([10.0, 0, 0] * t + [0, 0, acceleration / 2] * t**2)
        assert motion.PLACED < classified(knots) < motion.QUATERNION, f"{acceleration} m/s^2"


@pytest.mark.parametrize("turn_deg", [0.0, 0.3, 1.0, 2.5, 5.0, 9.0, 60.0, 700.0])
@pytest.mark.parametrize("speed_m", [1e-3, 3.0])
def test_steady_motion_stays_within_tolerance(turn_deg, speed_m):
    knots = sn.Pose.from_euler_deg(
        np.linspace(0, 1, 9)[:, None] * [speed_m, -speed_m, 0], yaw=np.linspace(0, turn_deg, 9)
    )
    away, kind = deviation_m(sn.shapes.box(1, 2, 0.5), MOUNT, knots)
    assert away < motion.TOLERANCE_M + ROUNDING_M
    assert kind > motion.PLACED


def test_every_kind_of_motion_is_reached():
    # steady turns need 1, 2, 4, 7 (from knot to knot), 8, 16, 28 and 56 segments, then quaternions
    turns = (0.0, 0.5, 1.0, 2.0, 3.5, 4.0, 8.0, 14.0, 28.0, 60.0)
    kinds = {classified(turning(turn, knots=8), 2.0) for turn in turns}
    assert kinds == set(range(motion.PLACED, motion.QUATERNION + 1)) - {motion.ON_KNOTS + 1}
    # and an unsteady one 14: kinks at the knots that 16 segments would miss
    t = np.linspace(0, 0.1, 8)
    bent = sn.Pose.from_euler_deg(t[:, None] ** 2 * [5.0, 0, 0], yaw=60.0 * t)
    assert classified(bent, 2.0) == motion.ON_KNOTS + 1


@pytest.mark.parametrize("seed", range(12))
def test_any_motion_stays_within_tolerance(seed):
    """Random walks of position and attitude, from a thousandth of a degree to wild tumbling."""
    rng = RNG(seed)
    count = int(rng.integers(2, 40))
    scale = 10 ** rng.uniform(-5, 0)
    steps = sn.Pose.exp(rng.normal(size=(count, 3)) * scale, rng.normal(size=(count, 3)) * scale)
    poses = [sn.Pose((3, -2, 1), rng.normal(size=4))]
    for k in range(count - 1):
        poses.append(poses[-1] @ steps[k])
    away, _ = deviation_m(sn.shapes.box(1, 2, 0.5), MOUNT, sn.Pose.stack(poses))
    assert away < motion.TOLERANCE_M + ROUNDING_M


def test_far_from_the_origin_nothing_is_lost():
    far = np.array([123_456.7, -98_765.4, 321.0])
    knots = sn.Pose.from_euler_deg(far + np.linspace(0, 1, 5)[:, None] * [1.0, 0.5, 0.0], yaw=np.linspace(0, 30, 5))
    away, _ = deviation_m(sn.shapes.box(1, 2, 0.5), MOUNT, knots, near=far)
    assert away < motion.TOLERANCE_M + 5 * ROUNDING_M


def test_a_steady_turn_with_more_knots_than_embree_has_segments():
    knots = turning(360.0, knots=300, position=(1, 2, 0))
    away, kind = deviation_m(sn.shapes.box(1, 2, 0.5), MOUNT, knots)
    assert kind == motion.QUATERNION
    assert away < motion.TOLERANCE_M + ROUNDING_M


@pytest.mark.parametrize("knots", [2, 3, 11, 129, 500])
def test_segments_fit_embree(knots):
    for turn_deg in (0.0, 0.01, 0.1, 1.0, 5.0, 20.0, 300.0):
        kind = classified(turning(turn_deg, knots=knots), 2.0)
        segments = motion.segments_of(kind, knots)
        assert segments == 0 if kind <= motion.PLACED else 1 <= segments <= motion.MAX_SEGMENTS


def test_quaternion_functions_agree_with_poses():
    rng = RNG(1)
    a, b = sn.Pose(np.zeros(3), rng.normal(size=4)), sn.Pose(np.zeros(3), rng.normal(size=4))
    out4, out9 = np.zeros(4), np.zeros(9)
    motion.multiply(a.quaternion, b.quaternion, out4)
    assert sn.Pose(np.zeros(3), out4).almost_equal(a @ b, 1e-12)
    motion.rotation(a.quaternion, out9)
    np.testing.assert_allclose(out9.reshape(3, 3), a.rotation, atol=1e-14)
    for s in (0.0, 0.3, 1.0):
        motion.slerp(a.quaternion, b.quaternion, s, out4)
        assert sn.Pose(np.zeros(3), out4).almost_equal(a.interpolate(b, s), 1e-12)
        np.testing.assert_allclose(np.linalg.norm(out4), 1.0, atol=1e-14)
