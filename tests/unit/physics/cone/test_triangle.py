"""Triangles in the cone: reference values, 600 of them against dense samples, and the quartic of physics.md 8.2."""

import math

import numpy as np
import pytest

from sensorium.physics.cone import nearest_on_segment, nearest_on_triangle
from sensorium.physics.cone.triangle import direction_nearest_to, nearest_on_plane


def of_thesis(point):
    x, y, z = point
    return z, -x, y


def nearest(corners, a=1.0, b=1.0, reach=5.0, spherical=False, within=math.inf):
    """Distance and point; None where nothing is inside."""
    distance2, *point = nearest_on_triangle(*map(tuple, np.array(corners, float)), a, b, reach, spherical, within)
    return None if distance2 == math.inf else (math.sqrt(distance2), np.array(point))


def large(normal, offset, size=100.0):
    """A triangle of the plane n p = offset that reaches far about the point nearest to the origin."""
    n = np.array(normal, float) / np.linalg.norm(normal)
    foot = n * offset / np.linalg.norm(normal)
    e = np.cross(n, [0.0, 0.0, 1.0] if abs(n[2]) < 0.9 else [0.0, 1.0, 0.0])
    e /= np.linalg.norm(e)
    f = np.cross(n, e)
    return [foot + size * (math.cos(t) * e + math.sin(t) * f) for t in (0.0, 2.1, 4.2)]


# --- reference values of physics.md 8.2 -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("normal", "offset", "a", "b", "reach", "point", "distance"),
    [
        ((1, 0, 0), 2.0, 1.0, 1.0, 5.0, (2, 0, 2), 2.828427),
        ((1, 0, 0), 1.0, math.tan(math.radians(30.0)), 1.0, 5.0, (1, 0, 1.732051), 2.0),
        ((0.5, 0, 1.2), 1.69, 1.0, 1.0, 2.0, (0.5, 0, 1.2), 1.3),
        ((0.5, 0, 1.2), 1.69, 1.0, 1.0, 1.0, (0.98, 0, 1), 1.400143),
    ],
)
def test_reference_planes_and_their_nearest_points(normal, offset, a, b, reach, point, distance):
    found = nearest(large(of_thesis(normal), offset), a, b, reach)
    assert found[0] == pytest.approx(distance, abs=5e-7)
    assert found[1] == pytest.approx(of_thesis(point), abs=5e-7)


# --- particular triangles ---------------------------------------------------------------------------------------------


def test_the_foot_of_the_plane_where_it_is_inside():
    distance, point = nearest([(3, -1, -1), (3, 2, -1), (3, -1, 2)])
    assert distance == 3.0
    assert point == pytest.approx((3, 0, 0))


def test_a_triangle_out_of_the_middle_is_nearest_on_an_edge():
    distance, point = nearest([(3, 1, -1), (3, 2, -1), (3, 1, 1)])
    assert point == pytest.approx((3, 1, 0))
    assert distance == pytest.approx(math.sqrt(10.0))


@pytest.mark.parametrize("spherical", [False, True])
def test_beyond_the_front_behind_and_beside_is_nothing(spherical):
    assert nearest([(6, -1, -1), (6, 2, -1), (6, -1, 2)], spherical=spherical) is None
    assert nearest([(-3, -1, -1), (-3, 2, -1), (-3, -1, 2)], spherical=spherical) is None
    assert nearest([(1, 3, -1), (1, 5, -1), (1, 3, 2)], spherical=spherical) is None


def test_a_plane_that_is_only_met_far_from_its_foot():
    # Its foot is behind the sensor, where the mirrored cone would be nearer
    corners = large((-0.2, 1.0, 0.0), 1.0, size=1000.0)
    distance, point = nearest(corners, reach=50.0)
    assert point[0] > 0.0
    assert point == pytest.approx((1.25, 1.25, 0.0))
    assert distance == pytest.approx(1.25 * math.sqrt(2.0))


def test_a_triangle_without_area_is_its_longest_side():
    distance, point = nearest([(2, -1, 0), (2, 1, 0), (2, 0.5, 0)])
    assert distance == pytest.approx(2.0)
    assert point == pytest.approx((2, 0, 0))


def test_a_triangle_through_the_sensor_is_at_no_distance():
    assert nearest([(-1, -1, 0), (3, -1, 0), (1, 3, 0)])[0] == 0.0


def test_what_is_no_nearer_than_asked_for_is_not_given():
    corners = [(3, -1, -1), (3, 2, -1), (3, -1, 2)]
    assert nearest(corners, within=9.0) is None
    assert nearest(corners, within=9.0 + 1e-9) is not None


# --- brute force ------------------------------------------------------------------------------------------------------


def barycentric(steps):
    u, v = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    keep = u + v <= steps
    return np.stack([steps - u - v, u, v], axis=-1)[keep] / steps


def inside(points, a, b, reach, spherical, slack=0.0):
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    far = (points**2).sum(axis=-1) <= (reach + slack) ** 2 if spherical else x <= reach + slack
    return (x >= -slack) & (np.sqrt((y / a) ** 2 + (z / b) ** 2) <= x + slack) & far


def in_triangle(point, corners):
    """Whether a point is a mean of the corners with weights that are not negative."""
    matrix = np.vstack([np.array(corners).T, np.ones(3)])
    weights, *_ = np.linalg.lstsq(matrix, np.append(point, 1.0), rcond=None)
    off = np.abs(matrix @ weights - np.append(point, 1.0)).max()
    return weights.min() > -1e-8 and off < 1e-8


def test_600_random_triangles_agree_with_dense_samples():
    random = np.random.default_rng(8)
    weights = barycentric(120)
    hits = {False: 0, True: 0}
    for number in range(600):
        a, b = random.uniform(0.3, 1.5, 2)
        reach, spherical = random.uniform(1.0, 5.0), bool(number % 2)
        corners = random.uniform((-2, -4, -4), (6, 4, 4), (3, 3))
        points = weights @ corners
        seen = inside(points, a, b, reach, spherical)
        found = nearest(corners, a, b, reach, spherical)
        if found is None:
            assert not seen.any()
            continue

        # A point of both, and no sample of both is nearer
        distance, point = found
        assert inside(point, a, b, reach, spherical, slack=1e-9)
        assert in_triangle(point, corners)
        assert distance == pytest.approx(np.linalg.norm(point), rel=1e-12)
        if seen.any():
            hits[spherical] += 1
            distances = np.linalg.norm(points[seen], axis=1)
            spacing = max(np.linalg.norm(corners[i] - corners[i - 1]) for i in range(3)) / 120
            assert distance <= distances.min() + 1e-12
            assert distance >= distances.min() - 8.0 * spacing
    assert min(hits.values()) > 100


# --- the quartic of physics.md ----------------------------------------------------------------------------------------


def by_quartic(n, D, a, b, reach):
    """Nearest distance of a plane in the cone with a flat front as physics.md 8.2 has it; inf where there is none."""
    M = np.diag([-1.0, a**-2, b**-2])
    foot = n * D
    if inside(foot, a, b, reach, spherical=False):
        return D
    e = np.cross(n, [0.0, 0.0, 1.0] if abs(n[2]) < 0.9 else [0.0, 1.0, 0.0])
    e /= np.linalg.norm(e)
    E = np.stack([e, np.cross(n, e)], axis=1)
    w, U = np.linalg.eigh(E.T @ M @ E)
    g, k = U.T @ E.T @ M @ foot, foot @ M @ foot
    one, two = np.array([w[0], 1.0]), np.array([w[1], 1.0])
    square = np.polymul
    quartic = k * square(square(one, one), square(two, two))
    for i, j in ((0, 1), (1, 0)):
        other = np.array([w[j], 1.0])
        quartic = np.polysub(quartic, g[i] ** 2 * square([w[i], 2.0, 0.0], square(other, other)))
    best = math.inf
    for root in np.roots(quartic):
        if abs(root.imag) < 1e-7 * (1 + abs(root)):
            y = -root.real * g / (1.0 + root.real * w)
            point = foot + E @ U @ y
            if inside(point, a, b, reach, spherical=False, slack=1e-7):
                best = min(best, float(np.linalg.norm(point)))

    # The front: the plane's line in it, clipped
    across = math.hypot(n[1], n[2])
    middle = np.array([reach, *((D - n[0] * reach) / across**2 * n[1:])])
    way = 100.0 * np.array([0.0, -n[2], n[1]]) / across
    distance2, *_ = nearest_on_segment(*(middle - way), *(2.0 * way), a, b, reach, False, math.inf)
    return min(best, math.sqrt(distance2))


def test_the_projected_normal_gives_the_root_of_the_quartic():
    random = np.random.default_rng(4)
    kinds = {"nothing": 0, "side": 0, "front": 0}
    for number in range(400):
        a, b = random.uniform(0.3, 1.5, 2)
        n = random.normal(size=3)
        n /= np.linalg.norm(n)
        D, reach = random.uniform(0.2, 3.0), random.uniform(1.0, 4.0)
        if number % 3 == 0 and (depth := nearest_on_plane(*n, D, a, b, 1e3, False)[1]) > 0.0:
            reach = depth * random.uniform(0.8, 1.0)
        distance2, *point = nearest_on_plane(*n, D, a, b, reach, False)
        expected = by_quartic(n, D, a, b, reach)
        assert math.sqrt(distance2) == pytest.approx(expected, rel=1e-7)
        kinds["nothing" if distance2 == math.inf else "front" if point[0] >= reach * (1 - 1e-12) else "side"] += 1
    assert min(kinds.values()) > 20


def test_the_direction_of_the_cone_nearest_to_a_vector_beats_a_thousand_others():
    random = np.random.default_rng(5)
    angle = np.linspace(0.0, 2.0 * math.pi, 1001)
    for _ in range(300):
        a, b = 10.0 ** random.uniform(-3.0, 1.5, 2)
        n = random.normal(size=3)
        n /= np.linalg.norm(n)
        rays = np.stack([np.ones_like(angle), a * np.cos(angle), b * np.sin(angle)], axis=1)
        cosines = rays @ n / np.linalg.norm(rays, axis=1)
        u = np.array(direction_nearest_to(*n, a, b))
        if not u.any():
            assert cosines.max() <= 1e-12
            continue
        cosine = n @ u / np.linalg.norm(u)
        assert cosine >= cosines.max() - 1e-14
        assert math.hypot(u[1] / a, u[2] / b) <= u[0] * (1.0 + 1e-12)
        if math.hypot(n[1] / a, n[2] / b) > n[0]:
            assert cosine <= cosines.max() + (2.0 * math.pi / 1000 * max(a, b, a / b, b / a)) ** 2
