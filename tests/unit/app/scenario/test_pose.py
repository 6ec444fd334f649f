"""Orbits in files."""

import numpy as np
import pytest

from sensorium.app.scenario.motions import Orbit
from sensorium.app.scenario.pose import Elements
from sensorium.core.errors import SpecError

MU = 3.986004418e14
LOW = {"semi_major_axis_m": 7e6}


def test_elements_give_the_orbit_they_name():
    a, e, i = 8e6, 0.1, 63.4
    elements = Elements(
        semi_major_axis_m=a,
        eccentricity=e,
        inclination_deg=i,
        ascending_node_deg=40,
        periapsis_deg=270,
        true_anomaly_deg=25,
    )
    r, v = elements.state(MU)
    h = np.cross(r, v)
    assert 2 / np.linalg.norm(r) - v @ v / MU == pytest.approx(1 / a)
    assert np.degrees(np.arccos(h[2] / np.linalg.norm(h))) == pytest.approx(i)
    assert np.degrees(np.arctan2(h[0], -h[1])) == pytest.approx(40)
    eccentricity = np.cross(v, h) / MU - r / np.linalg.norm(r)
    assert np.linalg.norm(eccentricity) == pytest.approx(e)
    assert eccentricity[2] == pytest.approx(-e * np.sin(np.radians(i)))  # the lowest point lies farthest south
    assert np.degrees(np.arccos(eccentricity @ r / e / np.linalg.norm(r))) == pytest.approx(25)
    assert r @ v > 0  # on its way up


def test_a_path_in_a_file_is_that_of_the_library():
    given = {"orbit": LOW, "euler_deg": (10, 20, 30), "rate": (0, 0, 0.1), "inertia_ratio": 1.5}
    motion = Orbit(kind="orbit", **given).make().motion(0.0)
    assert np.allclose(motion.pose.position, (7e6, 0, 0))
    assert np.allclose(motion.v_WB, (0, np.sqrt(MU / 7e6), 0))
    assert np.linalg.norm(motion.w_WB) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "orbit and position are both given or both not"),
        (
            {"orbit": LOW, "position": (7e6, 0, 0), "velocity": (0, 7e3, 0)},
            "exactly one of them",
        ),
        ({"position": (7e6, 0, 0)}, "must be given together"),
        ({"orbit": {"semi_major_axis_m": 7e6, "eccentricity": 1.0}}, "eccentricity is 1.0"),
        (
            {"orbit": LOW, "quaternion": (1, 0, 0, 0), "euler_deg": (0, 0, 0)},
            "one of them must do",
        ),
    ],
)
def test_what_users_may_not_write(given, says):
    with pytest.raises(SpecError, match=says):
        Orbit(kind="orbit", **given)
