"""Poses: the axioms of the group, its exponential map, and what users may not give."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose, transport_acceleration, transport_twist

SHAPES = [(), (1,), (5,), (2, 3), (4, 0)]


def random_pose(shape=(), seed=0):
    rng = np.random.default_rng(seed)
    return Pose(rng.normal(scale=5.0, size=(*shape, 3)), rng.normal(size=(*shape, 4)))


def quarter_turn():
    """The reference of the rolling scan: a quarter turn about z and one meter along x."""
    return Pose((1, 0, 0), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))


# ---- the group


@pytest.mark.parametrize("shape", SHAPES)
def test_group_axioms(shape):
    a, b, c = (random_pose(shape, seed) for seed in (1, 2, 3))
    assert ((a @ b) @ c).almost_equal(a @ (b @ c), 1e-12)
    assert (a @ Pose()).almost_equal(a, 1e-15)
    assert (Pose() @ a).almost_equal(a, 1e-15)
    assert (a @ a.inverse()).almost_equal(Pose().broadcast_to(shape), 1e-13)
    assert (a.inverse() @ a).almost_equal(Pose().broadcast_to(shape), 1e-13)
    assert (a @ b).inverse().almost_equal(b.inverse() @ a.inverse(), 1e-12)
    assert (a @ b).shape == shape


@pytest.mark.parametrize("shape", SHAPES)
def test_poses_act_on_points_as_their_matrices_do(shape):
    a, b = random_pose(shape, 1), random_pose(shape, 2)
    points = np.random.default_rng(4).normal(size=(*shape, 3))
    by_matrix = np.einsum("...ij,...j->...i", a.matrix[..., :3], points) + a.matrix[..., 3]
    np.testing.assert_allclose(a.apply(points), by_matrix, atol=1e-13)
    np.testing.assert_allclose((a @ b).apply(points), a.apply(b.apply(points)), atol=1e-12)
    np.testing.assert_allclose(a.rotate(points), a.apply(points) - a.position, atol=1e-12)
    np.testing.assert_allclose(np.sum(a.rotate(points) ** 2, -1), np.sum(points**2, -1), rtol=1e-13)


def test_batch_shape_broadcasts_against_leading_shape_of_the_points():
    a, points = random_pose((2, 3)), np.random.default_rng(4).normal(size=(7, 3))
    out = a[..., None].apply(points)
    assert out.shape == (2, 3, 7, 3)
    np.testing.assert_array_equal(out[1, 2], a[1, 2].apply(points))
    assert (a[:, None] @ a[None]).shape == (2, 2, 3)


@pytest.mark.parametrize("count", [2, 3, 8, 17, 1000])
def test_a_pose_in_a_batch_comes_out_bit_for_bit_as_alone(count):
    a, b = random_pose((count,), 1), random_pose((count,), 2)
    k = count - 1
    assert (a @ b)[k] == a[k] @ b[k]
    assert a.inverse()[k] == a[k].inverse()
    assert a.interpolate(b, 0.3)[k] == a[k].interpolate(b[k], 0.3)
    assert a.interpolate(b, 0.3, screw=True)[k] == a[k].interpolate(b[k], 0.3, screw=True)
    np.testing.assert_array_equal(a.apply(b.position)[k], a[k].apply(b.position[k]))


def test_ten_thousand_products_stay_rotations():
    step, pose = random_pose(seed=5), Pose()
    for _ in range(10_000):
        pose = pose @ step
    assert abs(np.linalg.norm(pose.quaternion) - 1.0) < 1e-11


# ---- exponential map


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-4, 0.29999, 0.30001, 1.5, 3.1, np.pi - 1e-7])
def test_log_undoes_exp(angle):
    phi = angle * np.array([2.0, -1.0, 2.0]) / 3.0
    rho = np.array([0.3, -4.0, 1.0])
    back_rho, back_phi = Pose.exp(rho, phi).log()
    np.testing.assert_allclose(back_phi, phi, atol=1e-14)
    np.testing.assert_allclose(back_rho, rho, atol=1e-13)


@given(st.tuples(*[st.floats(-1, 1)] * 4), st.tuples(*[st.floats(-1e3, 1e3)] * 3))
@settings(max_examples=200, deadline=None)
def test_exp_undoes_log_for_every_pose(quaternion, position):
    assume(any(quaternion))
    pose = Pose(position, quaternion)
    rho, phi = pose.log()
    assert np.linalg.norm(phi) <= np.pi + 1e-15
    assert Pose.exp(rho, phi).almost_equal(pose, 1e-10)


@pytest.mark.parametrize("quaternion", [(0, 1, 0, 0), (0, 0, -1, 0), (1e-17, 0.6, 0, 0.8), (-1e-17, 0.6, 0, 0.8)])
def test_half_turns_have_a_logarithm_of_length_pi(quaternion):
    pose = Pose((1, 2, 3), quaternion)
    rho, phi = pose.log()
    assert np.linalg.norm(phi) == pytest.approx(np.pi, abs=1e-15)
    assert Pose.exp(rho, phi).almost_equal(pose, 1e-14)


def test_powers_of_one_screw_add_up():
    rho, phi = np.array([1.0, 2.0, 3.0]), np.array([0.2, -0.4, 0.7])
    in_two = Pose.exp(0.3 * rho, 0.3 * phi) @ Pose.exp(0.7 * rho, 0.7 * phi)
    assert in_two.almost_equal(Pose.exp(rho, phi), 1e-14)


# ---- interpolation: reference numbers of the rolling scan


def test_logarithm_of_the_reference_motion():
    rho, phi = quarter_turn().log()
    np.testing.assert_allclose(rho, (0.785398, -0.785398, 0), atol=5e-7)
    np.testing.assert_allclose(phi, (0, 0, np.pi / 2), atol=1e-15)


def test_midpoints_of_the_reference_motion():
    screw = Pose().interpolate(quarter_turn(), 0.5, screw=True)
    decoupled = Pose().interpolate(quarter_turn(), 0.5)
    np.testing.assert_allclose(screw.position, (0.5, -0.207107, 0), atol=5e-7)
    np.testing.assert_allclose(decoupled.position, (0.5, 0, 0), atol=1e-15)
    for pose in (screw, decoupled):
        np.testing.assert_allclose(pose.quaternion, (np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)), atol=1e-15)


@pytest.mark.parametrize("screw", [False, True])
def test_interpolation_meets_its_ends_and_reverses(screw):
    a, b = random_pose((6,), 1), random_pose((6,), 2)
    assert a.interpolate(b, 0.0, screw=screw).almost_equal(a, 1e-12)
    assert a.interpolate(b, 1.0, screw=screw).almost_equal(b, 1e-12)
    assert a.interpolate(b, 0.2, screw=screw).almost_equal(b.interpolate(a, 0.8, screw=screw), 1e-12)


def test_interpolation_turns_the_shorter_way_whatever_the_sign():
    a, b = Pose(), Pose(quaternion=(np.cos(0.2), 0, 0, np.sin(0.2)))
    flipped = Pose(quaternion=-b.quaternion)
    assert a.interpolate(flipped, 0.5).almost_equal(a.interpolate(b, 0.5), 1e-15)
    _, phi = a.interpolate(flipped, 0.5).log()
    np.testing.assert_allclose(phi, (0, 0, 0.2), atol=1e-15)


def test_many_fractions_between_two_poses():
    path = random_pose(seed=1).interpolate(random_pose(seed=2), np.linspace(0, 1, 5))
    assert path.shape == (5,)
    np.testing.assert_allclose(np.diff(path.position, n=2, axis=0), 0, atol=1e-14)


# ---- ways to make one


def test_euler_angles_are_yaw_then_pitch_then_roll():
    assert Pose.from_euler_deg(yaw=90).rotate((1, 0, 0)) == pytest.approx((0, 1, 0), abs=1e-15)
    assert Pose.from_euler_deg(pitch=90).rotate((1, 0, 0)) == pytest.approx((0, 0, -1), abs=1e-15)
    assert Pose.from_euler_deg(roll=90).rotate((0, 1, 0)) == pytest.approx((0, 0, 1), abs=1e-15)
    one_by_one = Pose.from_euler_deg((1, 2, 3), yaw=30) @ Pose.from_euler_deg(pitch=20) @ Pose.from_euler_deg(roll=10)
    assert Pose.from_euler_deg((1, 2, 3), roll=10, pitch=20, yaw=30).almost_equal(one_by_one, 1e-15)


def test_euler_angles_in_batches():
    poses = Pose.from_euler_deg(np.zeros((4, 1, 3)), yaw=[0, 90, 180])
    assert poses.shape == (4, 3)
    assert poses[2, 1].rotate((1, 0, 0)) == pytest.approx((0, 1, 0), abs=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [3, 4])
def test_matrices_go_in_and_come_out(shape, rows):
    pose = random_pose(shape)
    matrix = np.zeros((*shape, rows, 4))
    matrix[..., :3, :] = pose.matrix
    matrix[..., 3:, 3] = 1.0
    assert Pose.from_matrix(matrix).almost_equal(pose, 1e-14)


def test_look_at_points_x_at_the_target_and_z_up():
    pose = Pose.look_at((1, 2, 3), (4, -2, 8))
    np.testing.assert_allclose(pose.rotation[:, 0], np.array([3, -4, 5]) / np.sqrt(50), atol=1e-15)
    assert pose.rotation[2, 1] == pytest.approx(0, abs=1e-15)  # y is level
    assert pose.rotation[2, 2] > 0
    downwards = Pose.look_at((0, 0, 1), (0, 0, 0), up=(1, 0, 0))
    assert downwards.rotate((0, 0, 1)) == pytest.approx((1, 0, 0), abs=1e-15)


# ---- what it holds


def test_arrays_are_normalized_copied_and_read_only():
    position = np.array([1.0, 2.0, 3.0])
    pose = Pose(position, (0, 0, 0, -3))
    position[0] = 9.0
    assert pose.position.tolist() == [1, 2, 3]
    assert pose.quaternion.tolist() == [0, 0, 0, -1]
    for array in (pose.position, pose.quaternion, pose.rotation):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e-5, 1e200])
def test_quaternions_of_any_length_are_accepted(scale):
    unit = np.array([0.5, 0.5, -0.5, 0.5])
    np.testing.assert_allclose(Pose(quaternion=unit * scale).quaternion, unit, rtol=1e-15)


def test_stored_numbers_reload_bit_for_bit():
    pose = random_pose((1000,))
    assert Pose(pose.position, pose.quaternion) == pose


def test_indexing_stacking_and_reshaping():
    pose = random_pose((2, 3))
    assert len(pose) == 2
    assert pose[1].shape == (3,)
    assert pose[..., 0].shape == (2,)
    assert pose[:, None].shape == (2, 1, 3)
    assert pose[np.array([[True, False, True], [False, True, False]])].shape == (3,)
    assert Pose.stack(list(pose)) == pose
    assert pose.reshape(-1).reshape((2, 3)) == pose
    assert pose.reshape(6)[4] == pose[1, 1]
    assert Pose((1, 2, 3)).broadcast_to((4, 2))[3, 1] == Pose((1, 2, 3))
    with pytest.raises(IndexError):
        pose[0, 0, 0]
    with pytest.raises(TypeError):
        len(pose[0, 0])


def test_copies_and_pickles_are_equal_and_still_read_only():
    pose = random_pose((3,))
    for other in (copy.deepcopy(pose), pickle.loads(pickle.dumps(pose))):
        assert other == pose
        assert hash(other) == hash(pose)
        assert not other.position.flags.writeable
    assert pose != random_pose((3,), 1)
    assert pose != random_pose((2,))


def test_almost_equal_looks_at_position_and_turn():
    pose = Pose((1, 2, 3))
    assert pose.almost_equal(Pose((1, 2, 3), (-1, 0, 0, 0)), 1e-12)
    assert not pose.almost_equal(Pose((1, 2, 3.001)), 1e-4)
    assert not pose.almost_equal(Pose((1, 2, 3), (1, 0, 0, 1e-3)), 1e-4)


# ---- what users may not give


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Pose((1, 2)), "position has shape"),
        (lambda: Pose(quaternion=(1, 0, 0)), "quaternion has shape"),
        (lambda: Pose(quaternion=(0, 0, 0, 0)), "quaternion is"),
        (lambda: Pose((np.nan, 0, 0)), "position holds nan"),
        (lambda: Pose(quaternion=(np.inf, 0, 0, 0)), "quaternion holds inf"),
        (lambda: Pose("abc"), "position is 'abc'"),
        (lambda: Pose(np.zeros((2, 3)), np.ones((3, 4))), "do not broadcast"),
        (lambda: Pose.from_matrix(np.eye(3)), "matrix has shape"),
        (lambda: Pose.from_matrix(np.diag([1, 1, 1.1, 1])), "orthonormal"),
        (lambda: Pose.from_matrix(np.diag([1, 1, -1, 1])), "reflection"),
        (lambda: Pose.from_matrix(2 * np.eye(4)), "last row"),
        (lambda: Pose.look_at((1, 1, 1), (1, 1, 1)), "target is"),
        (lambda: Pose.look_at((0, 0, 0), (0, 0, 2)), "up is"),
        (lambda: Pose.look_at((0, 0, 0), (1, 0, 2), up=(0, 0, 0)), "up is"),
        (lambda: Pose.stack([]), "no poses"),
        (lambda: Pose.stack([Pose(), Pose(np.zeros((2, 3)))]), "one shape"),
        (lambda: Pose().apply((1, 2)), "points has shape"),
        (lambda: Pose().interpolate(Pose(), np.nan), "s holds nan"),
        (lambda: Pose(np.zeros((2, 3))).broadcast_to((3,)), "do not broadcast"),
    ],
)
def test_errors_name_the_thing_and_the_rule(call, says):
    with pytest.raises(SpecError, match=says):
        call()


def test_an_array_times_a_pose_is_an_error():
    with pytest.raises(TypeError):
        np.eye(4) @ Pose()


# ---- points fixed to a moving body


def test_transport_agrees_with_differences_of_the_point():
    rho, phi, r_BS_B = np.array([1.0, 0.5, -0.2]), np.array([0.3, -0.2, 0.9]), np.array([0.4, 1.0, -2.0])
    h = 1e-4

    # A body on a constant screw: w is constant in its own axes, and v_B as well
    def body(t):
        return Pose.exp(t * rho, t * phi)

    before, now, after = (body(1.0 + k * h) for k in (-1, 0, 1))
    v_WB, w_WB, r_BS_W = now.rotate(rho), now.rotate(phi), now.rotate(r_BS_B)
    velocity = (after.apply(r_BS_B) - before.apply(r_BS_B)) / (2 * h)
    acceleration = (after.apply(r_BS_B) - 2 * now.apply(r_BS_B) + before.apply(r_BS_B)) / h**2
    np.testing.assert_allclose(transport_twist(v_WB, w_WB, r_BS_W), velocity, atol=1e-7)
    a_WB = np.cross(w_WB, v_WB)
    np.testing.assert_allclose(transport_acceleration(a_WB, np.zeros(3), w_WB, r_BS_W), acceleration, atol=1e-6)
