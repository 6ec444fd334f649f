import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import Coupling, Part, Program
from sensorium.corruption.engine.base import Layout

# A tenth of a degree a second for each g
G_SENSITIVITY = np.deg2rad(0.1) / 9.80665


def _program(matrix, source_column, column, columns):
    matrix = np.asarray(matrix)
    ops = Coupling(matrix=matrix, source_column=source_column).compiled(Layout(len(matrix)))
    return Program([Part(ops, column, len(matrix))], columns=columns)


def test_a_gyroscope_feels_a_share_of_the_acceleration():
    assert pytest.approx(1.7797e-4, abs=5e-9) == G_SENSITIVITY
    program = _program(G_SENSITIVITY * np.eye(3), 0, 3, 6)
    x = np.array([[0.0, 0.0, 9.80665, 0.5, 0.0, 0.0]])
    program.step(x, 0, program.init((6,), seed=1, name="imu"))
    np.testing.assert_allclose(x[0, 3:], [0.5, 0, np.deg2rad(0.1)], rtol=1e-15)
    np.testing.assert_array_equal(x[0, :3], [0, 0, 9.80665])


def test_sources_may_be_fewer_than_what_they_disturb():
    program = _program([[1.0], [2.0], [3.0]], 3, 0, 4)
    x = np.array([[0.0, 0.0, 0.0, 2.0], [1.0, 1.0, 1.0, -1.0]])
    program.step(x, 0, program.init((2, 4), seed=1, name="imu"))
    np.testing.assert_array_equal(x[:, :3], [[2, 4, 6], [0, -1, -2]])


def test_a_matrix_needs_a_row_for_each_channel():
    with pytest.raises(SpecError, match="matrix has 2 rows; it must have 3, one for each channel"):
        Coupling(matrix=np.eye(2), source_column=0).compiled(Layout(3))
    with pytest.raises(SpecError, match=r"Coupling\.source_column is -1"):
        Coupling(matrix=np.eye(2), source_column=-1)
