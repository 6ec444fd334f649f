"""That the measures of accuracy would tell: against ranges that are wrong by a known amount, and a known solid."""

import dataclasses
import itertools

import numpy as np
import pytest

import sensorium as sn
from sensorium.qa.benchmarks.rows import accuracy


def casting_wrong(monkeypatch, wrong):
    """Ray casters of the benchmark whose ranges a function of range and direction changes."""
    true = sn.RayCaster

    class Wrong:
        def __init__(self, scene):
            self._caster = true(scene)

        def cast(self, origins, directions):
            hits = self._caster.cast(origins, directions)
            return dataclasses.replace(hits, range_m=wrong(hits.range_m, np.asarray(directions)))

    monkeypatch.setattr(accuracy.sn, "RayCaster", Wrong)


@pytest.mark.parametrize("share", [1e-3, -1e-3])
def test_the_error_of_planes_is_that_of_their_ranges_too_long_or_too_short(monkeypatch, share):
    casting_wrong(monkeypatch, lambda range_m, directions: range_m * (1.0 + share))
    assert accuracy.plane_error() == pytest.approx(1e-3, rel=0.01)


def test_one_wrong_ray_of_all_tells(monkeypatch):
    asked = []

    def wrong(range_m, directions):
        asked.append(len(range_m))
        return np.where(np.arange(len(range_m)) == 7, 1.02 * range_m, range_m) if len(asked) == 20 else range_m

    casting_wrong(monkeypatch, wrong)
    assert accuracy.plane_error() == pytest.approx(0.02, rel=0.01)

    # Planes from near to far; of 2000 rays all round those up to 80 degrees off the normal, (1 - cos 80) / 2 of them
    assert len(asked) == 40
    assert np.mean(asked) == pytest.approx(2000 * 0.5 * (1.0 - np.cos(np.radians(80.0))), rel=0.02)


def test_planes_stand_from_half_a_meter_to_two_hundred_away(monkeypatch):
    least = []
    casting_wrong(monkeypatch, lambda range_m, directions: least.append(range_m.min()) or range_m)
    accuracy.plane_error()
    np.testing.assert_allclose([least[0], least[-1]], [0.5, 200.0], rtol=0.01)


def test_an_icosahedron_stands_inside_its_sphere_by_what_euclid_says():
    """Unit circumradius: the inscribed sphere has the radius phi^2 / sqrt(3) over sqrt(phi sqrt(5))."""
    phi = (1.0 + np.sqrt(5.0)) / 2.0
    inradius = phi**2 / np.sqrt(3.0) / np.sqrt(phi * np.sqrt(5.0))
    seen, predicted = accuracy.sphere_sag(0)
    assert predicted == pytest.approx(1.0 - inradius, rel=1e-6)
    assert seen == pytest.approx(predicted, rel=1e-3)
    assert seen <= predicted + 1e-6


def test_the_sag_falls_to_a_quarter_with_each_subdivision():
    sags = [accuracy.sphere_sag(number) for number in (2, 3, 4)]
    for (seen, predicted), (finer_seen, finer_predicted) in itertools.pairwise(sags):
        assert finer_predicted == pytest.approx(predicted / 4.0, rel=0.1)
        assert finer_seen == pytest.approx(seen / 4.0, rel=0.1)


def test_rays_that_end_too_soon_show_in_what_is_seen_and_not_in_what_is_predicted(monkeypatch):
    _, predicted = accuracy.sphere_sag(2)
    casting_wrong(monkeypatch, lambda range_m, directions: range_m - 0.01)
    seen, still_predicted = accuracy.sphere_sag(2)
    assert still_predicted == predicted
    assert seen == pytest.approx(predicted + 0.01, abs=1e-4)
