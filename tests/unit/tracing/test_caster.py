import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError, SpecError
from sensorium.tracing.reference import brute_force as reference


def random_rays(count, seed, spread=4.0):
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, 3))
    return rng.uniform(-spread, spread, (count, 3)), directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def cluttered():
    """Every shape, turned and shifted, some on bodies."""
    rng = np.random.default_rng(3)
    shapes = [
        sn.shapes.box(1, 2, 0.5),
        sn.shapes.sphere(0.7, subdivisions=2),
        sn.shapes.cylinder(0.4, 1.5, segments=12),
        sn.shapes.capsule(0.3, 1.0, segments=8),
        sn.shapes.ellipsoid(0.5, 0.8, 0.3, subdivisions=2),
        sn.shapes.plane(12.0),
    ]
    scene = sn.Scene()
    placed = []
    for i, mesh in enumerate(shapes * 2):
        quaternion = rng.normal(size=4)
        pose = sn.Pose(rng.uniform(-3, 3, 3), quaternion)
        on_body = i % 3 == 0
        X_WB = sn.Pose(rng.uniform(-1, 1, 3), rng.normal(size=4))
        scene.add(mesh, pose=pose, body=f"body{i}" if on_body else None, label=f"kind{i % 6}")
        placed.append((mesh, X_WB @ pose if on_body else pose, f"body{i}" if on_body else None, X_WB))
    caster = sn.RayCaster(scene)
    caster.place({name: X_WB for _, _, name, X_WB in placed if name})
    return scene, caster, [(mesh, pose) for mesh, pose, _, _ in placed]


def test_equal_to_brute_force(cluttered):
    scene, caster, placed = cluttered
    origins, directions = random_rays(3000, seed=0)
    hits = caster.cast(origins, directions)
    expected = reference.cast(placed, origins, directions)
    # float32 may decide differently within rounding of an edge; nothing else
    agree = (hits.object_id == expected.object_id) & (hits.face_id == expected.face_id)
    assert agree.mean() > 0.999
    assert hits.hit.sum() > 1000
    np.testing.assert_allclose(hits.range_m[agree], expected.range_m[agree], rtol=1e-5, atol=5e-6)
    np.testing.assert_allclose(hits.normal[agree], expected.normal[agree], atol=2e-6)
    labels = np.array([scene.labels[o.label] for o in scene.objects])
    assert (hits.label[hits.hit] == labels[hits.object_id[hits.hit]]).all()
    np.testing.assert_array_equal(hits.label[~hits.hit], -1)


def test_coherent_and_scattered_agree(cluttered):
    _, caster, _ = cluttered
    angles = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    directions = np.stack([np.cos(angles), np.sin(angles), 0.1 + 0 * angles], axis=-1)
    one = caster.cast(np.zeros(3), directions, coherent=True)
    other = caster.cast(np.zeros(3), directions)
    np.testing.assert_array_equal(one.object_id, other.object_id)
    np.testing.assert_allclose(one.range_m, other.range_m, rtol=1e-6)


def test_barycentric_coordinates_give_the_point(cluttered):
    _, caster, placed = cluttered
    origins, directions = random_rays(500, seed=1)
    hits = caster.cast(origins, directions)
    points = origins + hits.range_m[:, None] * directions
    for i in np.flatnonzero(hits.hit):
        mesh, pose = placed[hits.object_id[i]]
        corners = pose.apply(mesh.vertices[mesh.faces[hits.face_id[i]]])
        u, v = hits.barycentric[i]
        np.testing.assert_allclose((1 - u - v) * corners[0] + u * corners[1] + v * corners[2], points[i], atol=2e-5)


def test_shapes_of_rays_are_kept():
    scene = sn.Scene()
    scene.add(sn.shapes.box(2, 2, 2))
    hits = sn.RayCaster(scene).cast(np.zeros((4, 1, 3)), np.eye(3))
    assert hits.range_m.shape == (4, 3)
    assert hits.normal.shape == (4, 3, 3)
    assert hits.barycentric.shape == (4, 3, 2)
    np.testing.assert_allclose(hits.range_m, 1.0, atol=1e-6)
    np.testing.assert_allclose(hits.normal, np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-6)
    none = sn.RayCaster(scene).cast(np.zeros((0, 3)), np.zeros((0, 3)))
    assert none.range_m.shape == (0,)


def test_a_limit_hides_what_is_beyond():
    scene = sn.Scene()
    scene.add(sn.shapes.box(2, 2, 2), pose=sn.Pose((5, 0, 0)))
    caster = sn.RayCaster(scene)
    hits = caster.cast(np.zeros((2, 3)), [1, 0, 0], t_max_m=[3.9, 4.1])
    np.testing.assert_array_equal(hits.hit, [False, True])
    assert hits.range_m[0] == np.inf
    assert hits.object_id[0] == hits.face_id[0] == hits.label[0] == -1


def test_hidden_bodies_are_passed_through():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="near")
    scene.add(sn.shapes.box(1, 1, 1), body="middle")
    scene.add(sn.shapes.box(1, 1, 1), pose=sn.Pose((9, 0, 0)))
    caster = sn.RayCaster(scene)
    caster.place({"near": sn.Pose((3, 0, 0)), "middle": sn.Pose((6, 0, 0))})
    for hide, range_m in [((), 2.5), (("near",), 5.5), (("middle",), 2.5), (("near", "middle"), 8.5)]:
        assert caster.cast([0, 0, 0], [1, 0, 0], hide=hide).range_m == pytest.approx(range_m, abs=1e-6)


def test_properties_are_read_at_the_hits():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
    mesh = sn.Mesh(
        corners,
        [[0, 1, 2], [1, 3, 2]],
        vertex_properties={"temperature": corners[:, 0] * 10 + corners[:, 1]},
        face_properties={"reflectance": [[0.1, 0.2], [0.3, 0.4]]},
    )
    scene = sn.Scene()
    scene.add(mesh, pose=sn.Pose((0, 0, 1)))
    hits = sn.RayCaster(scene).cast([[0.2, 0.3, 0], [0.9, 0.8, 0], [5, 5, 0]], [0, 0, 1])
    np.testing.assert_allclose(hits.property("temperature"), [2.3, 9.8, 0.0], rtol=1e-5)
    np.testing.assert_allclose(hits.property("reflectance"), [[0.1, 0.2], [0.3, 0.4], [0, 0]])
    with pytest.raises(SceneError, match="color"):
        hits.property("color")


def test_labels_of_faces_win_over_the_object_s():
    mesh = sn.shapes.box(2, 2, 2)
    names = np.where(np.arange(len(mesh.faces)) < 6, "painted", "")
    scene = sn.Scene()
    scene.add(sn.Mesh(mesh.vertices, mesh.faces, face_properties={"label": names}), label="box")
    hits = sn.RayCaster(scene).cast([0, 0, 0], np.concatenate([np.eye(3), -np.eye(3)]))
    painted = hits.face_id < 6
    assert painted.any()
    assert not painted.all()
    np.testing.assert_array_equal(hits.label[painted], scene.labels["painted"])


def test_bodies_move_within_the_interval():
    # a unit cube 10 m ahead turns 90 degrees: the face is met where the turned face crosses the axis
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="cube")
    caster = sn.RayCaster(scene)
    turned = sn.Pose.from_euler_deg([[10, 0, 0]] * 2, yaw=[0, 90])
    caster.move({"cube": turned})
    times = np.array([0.0, 0.25, 0.5, 1.0])
    hits = caster.cast(np.zeros((4, 3)), [1, 0, 0], time=times)
    angle = np.minimum(times, 1 - times) * np.pi / 2
    np.testing.assert_allclose(hits.range_m, 10 - 0.5 / np.cos(angle), atol=2e-6)
    np.testing.assert_allclose(hits.range_m, [9.5, 9.458804, 9.292893, 9.5], atol=2e-6)
    # the normal turns with it
    np.testing.assert_allclose(hits.normal[1], [-np.cos(angle[1]), -np.sin(angle[1]), 0], atol=1e-6)


@pytest.mark.parametrize("turn_deg", [0.1, 2.0, 20.0, 170.0])
def test_motion_follows_slerp_and_straight_lines_to_the_tolerance(turn_deg):
    """Every kind of motion (few segments, many, quaternions) against poses computed ray by ray."""
    rng = np.random.default_rng(int(turn_deg * 10))
    knots = sn.Pose.from_euler_deg(
        rng.uniform(-0.5, 0.5, (5, 3)), yaw=np.linspace(0, turn_deg, 5), roll=rng.uniform(0, turn_deg / 8, 5)
    )
    mount = sn.Pose((0.6, 0.2, -0.1), (0.9, 0.1, 0.3, -0.2))
    mesh = sn.shapes.box(1, 2, 3)
    scene = sn.Scene()
    scene.add(mesh, pose=mount, body="mover")
    caster = sn.RayCaster(scene)
    caster.move({"mover": knots})
    origins, directions = random_rays(400, seed=5, spread=5.0)
    directions = -origins / np.linalg.norm(origins, axis=1, keepdims=True)
    times = rng.uniform(0, 1, 400).astype(np.float32).astype(np.float64)
    hits = caster.cast(origins, directions, time=times)
    for i in range(400):
        k = min(int(times[i] * 4), 3)
        pose = knots[k].interpolate(knots[k + 1], times[i] * 4 - k) @ mount
        expected = reference.cast([(mesh, pose)], origins[i : i + 1], directions[i : i + 1])
        if np.isfinite(expected.range_m[0]) and hits.face_id[i] == expected.face_id[0]:
            # a tolerance of motion across the surface shows along the ray as 1 / cos of incidence
            slant = abs(expected.normal[0] @ directions[i])
            assert abs(hits.range_m[i] - expected.range_m[0]) < 3e-5 / max(slant, 0.05)


def test_worlds_are_apart():
    assets = [sn.shapes.box(1, 1, 1), sn.shapes.sphere(0.5)]
    index = np.array([[0, 1], [1, -1], [-1, -1]])
    position = np.zeros((3, 2, 3))
    position[:, 0, 0], position[:, 1, 1] = [3, 4, 5], [6, 7, 8]
    caster = sn.RayCaster(sn.SceneBatch(assets, index, sn.Pose(position)))
    hits = caster.cast(np.zeros((3, 1, 3)), np.eye(3)[:2], worlds=np.arange(3)[:, None])
    np.testing.assert_allclose(hits.range_m, [[2.5, 5.5], [3.5, np.inf], [np.inf, np.inf]], atol=2e-3)
    np.testing.assert_array_equal(hits.object_id, [[0, 1], [0, -1], [-1, -1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"origins": [0, 0]}, "origins.*3 entries"),
        ({"origins": [np.nan, 0, 0]}, "origins.*not finite"),
        ({"directions": [0, 0, 0]}, "length zero"),
        ({"origins": np.zeros((2, 3)), "t_max_m": np.ones(3)}, r"shapes origins \(2,\), t_max_m \(3,\); they must"),
        ({"time": 1.5}, "time.*0 to 1"),
        ({"t_max_m": -1}, "t_max_m.*zero or more"),
        ({"worlds": 1}, "worlds.*0 to 0"),
        ({"hide": ("nobody",)}, "nobody"),
    ],
)
def test_bad_rays_are_refused(change, message):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1))
    arguments = {"origins": [0, 0, 0], "directions": [1, 0, 0], **change}
    with pytest.raises(SpecError, match=message):
        sn.RayCaster(scene).cast(**arguments)


def test_moves_of_unknown_bodies_are_refused():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="a")
    scene.add(sn.shapes.box(1, 1, 1), body="b")
    caster = sn.RayCaster(scene)
    with pytest.raises(SpecError, match="'c'"):
        caster.place({"c": sn.Pose()})
    with pytest.raises(SpecError, match=r"\[2, 3\]"):
        caster.move({"a": sn.Pose(np.zeros((2, 3))), "b": sn.Pose(np.zeros((3, 3)))})


@pytest.mark.parametrize(
    ("poses", "message"),
    [
        ({"a": sn.Pose(np.zeros((3, 3)))}, r"the pose of body 'a' has batch shape \(3,\); it must be \(\) or \(4,\)"),
        ({"a": sn.Pose(np.zeros((1, 4, 3)))}, r"the pose of body 'a' has batch shape \(1, 4\)"),
        ({"a": (1, 2, 3)}, r"poses\['a'\] is a tuple, \(1, 2, 3\); it must be a sn\.Pose"),
        (sn.Pose(), "poses is a Pose; it must be a dictionary"),
    ],
)
def test_places_that_fit_no_world_are_refused(poses, message):
    caster = of_four_worlds()
    with pytest.raises(SpecError, match=message):
        caster.place(poses)
    for shape in ((), (1,), (4,)):
        caster.place({"a": sn.Pose((5.0, 0.0, 0.0)).broadcast_to(shape)})
        hits = caster.cast([0, 0, 0], [1, 0, 0], worlds=np.arange(4))
        np.testing.assert_allclose(hits.range_m, [4.5] * 4, rtol=1e-6)


@pytest.mark.parametrize(
    ("knots", "message"),
    [
        ({"a": sn.Pose()}, r"the knots of body 'a' have batch shape \(\); it must be \(knots,\) or \(knots, 4\)"),
        ({"a": sn.Pose(np.zeros((2, 3, 3)))}, r"have batch shape \(2, 3\)"),
        ({"a": sn.Pose(np.zeros((0, 3)))}, r"have batch shape \(0,\).*with one knot at least"),
        ({"a": [sn.Pose(), sn.Pose()]}, r"knots\['a'\] is a list"),
    ],
)
def test_knots_that_fit_no_world_are_refused(knots, message):
    caster = of_four_worlds()
    with pytest.raises(SpecError, match=message):
        caster.move(knots)
    for shape in ((2, 1), (2, 4), (2,)):
        caster.move({"a": sn.Pose((5.0, 0.0, 0.0)).broadcast_to(shape)})
        hits = caster.cast([0, 0, 0], [1, 0, 0], time=0.5, worlds=np.arange(4))
        np.testing.assert_allclose(hits.range_m, [4.5] * 4, rtol=1e-6)


def of_four_worlds():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="a")
    return sn.RayCaster(scene, worlds=4)
