"""The kernel of closed paths: many bodies, joints and worlds in one call are each of them alone."""

import numpy as np
import pytest

from sensorium.core.frames import Pose
from sensorium.worlds import paths
from sensorium.worlds.paths.base import BLOCKS, OPEN, ROW, closed_form
from sensorium.worlds.paths.evaluate import evaluate

BODIES = (
    paths.Fixed(Pose.from_euler_deg((1, 2, 3), 10, 20, 30)),
    paths.Line((1, 2, 3), (4, -5, 6), quaternion=(1, 2, 3, 4)),
    paths.Circle((8, 3, 1), radius=2.0, rate=1.5, phase=0.4),
    paths.Spin((1, 0, 2), axis=(1, 1, -2), rate=3.0, phase=0.2),
)
JOINTS = (paths.JointLine(velocity=2.0), paths.JointSine(amplitude=0.5, rate=0.3))
TIMES = np.array([0.0, 0.7, -3.1])


def laid_out(which):
    kinds, rows = zip(*(closed_form(path) for path in which), strict=True)
    return np.array(kinds), np.stack(rows)[None]


def filled(kinds, rows, joint_kinds, joint_rows, threads=1):
    numbers = np.full(ROW * len(TIMES) * kinds.size + 2 * len(TIMES) * joint_kinds.size, -7.0)
    for first in range(threads):
        evaluate(
            first, threads, len(TIMES), TIMES, kinds, rows, joint_kinds, joint_rows, numbers, np.zeros(1, np.bool_)
        )
    return numbers


def test_all_together_are_each_alone():
    numbers = filled(*laid_out(BODIES), *laid_out(JOINTS))
    shape, at = (len(TIMES), len(BODIES)), 0
    blocks = []
    for begin, end in BLOCKS:
        size = (end - begin) * shape[0] * shape[1]
        blocks.append(numbers[at : at + size].reshape(*shape, end - begin))
        at += size
    for body, path in enumerate(BODIES):
        motion = path.motion(TIMES)
        alone = (motion.pose.position, motion.pose.quaternion, motion.v_WB, motion.w_WB, motion.a_WB, motion.alpha_WB)
        for block, expected in zip(blocks, alone, strict=True):
            np.testing.assert_array_equal(block[:, body], expected)
    position, velocity = numbers[at:].reshape(2, len(TIMES), len(JOINTS))
    for joint, path in enumerate(JOINTS):
        np.testing.assert_array_equal((position[:, joint], velocity[:, joint]), path.motion(TIMES))


def test_shares_of_the_worlds_make_up_the_whole():
    arguments = (*laid_out(BODIES), *laid_out(JOINTS))
    assert filled(*arguments).tobytes() == filled(*arguments, threads=2).tobytes()


def test_worlds_may_have_parameters_of_their_own():
    kinds, rows = laid_out(BODIES)
    joint_kinds, joint_rows = laid_out(JOINTS)
    own = np.repeat(rows, len(TIMES), axis=0)
    own[1, 1, :3] += 100.0  # where the line of the second world starts
    numbers = filled(kinds, own, joint_kinds, joint_rows)
    position = numbers[: 3 * own.shape[0] * kinds.size].reshape(len(TIMES), kinds.size, 3)
    same = filled(kinds, rows, joint_kinds, joint_rows)[: position.size].reshape(position.shape)
    moved = position - same
    assert moved[1, 1] == pytest.approx((100.0, 100.0, 100.0))
    moved[1, 1] = 0.0
    assert (moved == 0.0).all()


def test_what_has_no_closed_form_is_left_alone():
    kinds, rows = laid_out(BODIES)
    joint_kinds, joint_rows = laid_out(JOINTS)
    open_kinds, open_joints = np.full_like(kinds, OPEN), np.full_like(joint_kinds, OPEN)
    assert (filled(open_kinds, rows, open_joints, joint_rows) == -7.0).all()


@pytest.mark.parametrize(("bodies", "joints", "broken"), [(2.0, 3.0, False), (np.inf, 3.0, True), (2.0, np.nan, True)])
def test_it_tells_whether_a_number_is_not_finite(bodies, joints, broken):
    kinds, rows = laid_out(BODIES[1:2])
    joint_kinds, joint_rows = laid_out(JOINTS[:1])
    rows[0, 0, 0], joint_rows[0, 0, 0] = bodies, joints
    flag, numbers = np.zeros(1, np.bool_), np.zeros((ROW + 2) * len(TIMES))
    evaluate(0, 1, len(TIMES), TIMES, kinds, rows, joint_kinds, joint_rows, numbers, flag)
    assert flag[0] == broken == (not np.isfinite(numbers).all())
