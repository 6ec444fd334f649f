"""Images drawn object by object: those that are traced ray by ray, without a gap, whatever stands across the lens."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.runtime import worker_pool
from sensorium.scene.layout import layout
from sensorium.tracing.embree.packet import BLOCK, TILE_ROWS
from sensorium.tracing.kernels.depth.drawing.canvas import frame

OUTPUTS = frozenset(
    {"range", "depth", "points", "segmentation", "object_id", "normals", "face_id", "flow", "scene_flow", "color"}
)
FOCAL_PX = (20.0, 21.0)


def lens(width, height):
    """The same rays for every size, as far as the image goes."""
    return sn.patterns.Pinhole(width=width, height=height, focal_px=FOCAL_PX, center_px=(15.3, 12.2), rate_hz=10.0)


DRAWN, TRACED = lens(32, 24), lens(33, 25)  # only images of whole tiles are drawn


def see(scene, *patterns, at=(0.0, 0.0, 1.5), euler_deg=(0.0, 0.0, 0.0), worlds=None, moving=None, **options):
    """Images of one scene through several lenses, from the same place."""
    eye = sn.paths.Line(start=at, velocity=(0.4, 0.0, 0.1))
    env = sn.Environment(scene, sn.worlds.Kinematic({"eye": eye, **(moving or {})}, step_s=0.1), worlds=worlds)
    fields = {"outputs": OUTPUTS, "min_range_m": 0.01, "max_range_m": 200.0} | options
    roll, pitch, yaw = euler_deg
    pose = sn.Pose.from_euler_deg(roll=roll, pitch=pitch, yaw=yaw)
    sensors = [
        env.attach(sn.DepthCamera(pattern=pattern, **fields), body="eye", pose=pose, name=f"camera{number}")
        for number, pattern in enumerate(patterns)
    ]
    env.step(), env.step()
    return env, [sensor.read() for sensor in sensors]


def _any_turn(rng):
    roll, pitch, yaw = rng.uniform(-180.0, 180.0, 3)
    return sn.Pose.from_euler_deg(roll=roll, pitch=pitch, yaw=yaw)


def test_lenses_are_what_their_names_say():
    objects = layout(yard(), 1)
    assert frame(DRAWN.width, DRAWN.height, 1, objects, one_instant=True).rasterized
    assert not frame(TRACED.width, TRACED.height, 1, objects, one_instant=True).rasterized
    assert frame(TRACED.width, TRACED.height, 1, objects, one_instant=True).span == BLOCK


def yard():
    """Things drawn and things traced, before and behind each other, around the camera and through it."""
    rng = np.random.default_rng(3)
    scene = sn.Scene()
    scene.add(sn.shapes.plane(60.0), label="ground")
    scene.add(sn.shapes.box(50.0, 0.3, 4.0), pose=sn.Pose(position=(0.0, 3.0, 2.0)), label="wall")
    kinds = [sn.shapes.box(1, 2, 1), sn.shapes.sphere(0.8, subdivisions=1), sn.shapes.sphere(0.8, subdivisions=4)]
    kinds += [sn.shapes.cylinder(0.4, 3.0)]
    for number in range(24):
        turn = _any_turn(rng)
        where = sn.Pose(tuple(rng.uniform((-12, -6, 0), (12, 6, 3))), turn.quaternion)
        scene.add(kinds[number % len(kinds)], pose=where, label=f"kind{number % len(kinds)}")
    scene.add(sn.shapes.sphere(0.5, subdivisions=1), body="ball", label="moving")
    return scene


MOVING = {"ball": sn.paths.Circle(center=(4.0, 0.0, 1.5), radius=1.0, rate=2.0)}


@pytest.mark.parametrize("yaw", [0.0, 77.0, 170.0, -100.0])
def test_drawn_images_are_those_that_are_traced(yaw):
    """All nine outputs through the same rays; at silhouettes rounding may decide which of two objects a ray meets."""
    _, (drawn, traced) = see(yard(), DRAWN, TRACED, euler_deg=(9.0, -4.0, yaw), moving=MOVING)
    same = drawn.face_id == traced.face_id[:24, :32]
    same &= drawn.segmentation == traced.segmentation[:24, :32]
    assert same.mean() > 0.995
    assert len(np.unique(drawn.segmentation)) > 3
    for name in sorted(OUTPUTS):
        ours, theirs = drawn.images[name][same], traced.images[name][:24, :32][same]
        if name == "color":
            assert np.abs(ours.astype(int) - theirs.astype(int)).max() <= 1
        else:
            atol = {"flow": 2e-4, "normals": 5e-5}.get(name, 1e-5)  # Embree takes normals from vertices less the camera
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=atol)


@pytest.mark.parametrize("subdivisions", [0, 2])
def test_no_ray_slips_through_a_closed_surface(subdivisions):
    """From inside a ball of 20 and of 320 triangles, some behind the camera and some across its plane."""
    rng = np.random.default_rng(subdivisions)
    ball = sn.shapes.sphere(3.0, subdivisions=subdivisions)
    within = np.linalg.norm(ball.vertices[ball.faces].mean(axis=1), axis=1).min()
    for _ in range(6):
        scene = sn.Scene()
        turn = _any_turn(rng)
        scene.add(ball, pose=sn.Pose((0.05, 0.0, 1.5), turn.quaternion))
        _, (image,) = see(scene, DRAWN, outputs={"range", "face_id"})
        assert (image.face_id >= 0).all()
        assert image.range_m.min() > within - 0.5
        assert image.range_m.max() < 3.0 + 0.5


def test_rays_through_edges_and_corners_find_one_of_their_faces():
    """A wall of squares whose edges and diagonals lie on the rays: depth is that of the wall, without a hole."""
    pattern = sn.patterns.Pinhole(width=32, height=32, focal_px=(16.0, 16.0), center_px=(16.0, 16.0), rate_hz=10.0)
    scene = sn.Scene()
    upright = sn.Pose.from_euler_deg(pitch=-90.0).quaternion
    scene.add(sn.shapes.heightfield(np.zeros((19, 19)), 18.0, 18.0), pose=sn.Pose((4.0, 0.0, 1.5), upright))
    world = sn.worlds.Kinematic({"eye": sn.paths.Line((0.0, 0.0, 1.5), (0.0, 0.0, 0.0))}, step_s=0.1)
    env = sn.Environment(scene, world)
    sensor = env.attach(sn.DepthCamera(pattern=pattern, outputs={"depth", "face_id"}), body="eye")
    env.step()
    image = sensor.read()
    np.testing.assert_allclose(image.depth_m, 4.0, rtol=1e-6)
    assert (image.face_id >= 0).all()


def test_a_floor_that_passes_under_the_camera_is_where_it_should_be():
    """Triangles from far behind to far before the camera: range = height / sine of the angle downwards."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(1000.0))
    _, (image,) = see(scene, DRAWN, at=(0.0, 0.0, 0.3), euler_deg=(0.0, 20.0, 30.0), outputs={"range"})
    pose = sn.Pose.from_euler_deg(pitch=20.0, yaw=30.0)
    down = -pose.rotate(DRAWN.rays().direction_S)[..., 2]
    seen = down > 0.01
    np.testing.assert_allclose(image.range_m[seen], (0.32 / down)[seen], rtol=1e-5)
    assert (image.range_m[down <= 0.0] == 200.0).all()


def test_triangles_without_area_and_edge_on_are_not_seen():
    scene = sn.Scene()
    flat = sn.Mesh([[2, -1, 1.5], [2, 1, 1.5], [2, 0, 1.5], [3, 0, 3.0]], [[0, 1, 2], [0, 0, 3], [0, 2, 2]])
    scene.add(flat)
    scene.add(sn.shapes.plane(40.0), pose=sn.Pose((0.0, 0.0, 1.52)))  # at the height of the lens
    scene.add(sn.shapes.box(0.2, 30.0, 30.0), pose=sn.Pose((6.14, 0.0, 0.0)), label="wall")
    _, (image,) = see(scene, DRAWN, outputs={"depth", "segmentation"})
    assert (image.segmentation == 1).all()
    np.testing.assert_allclose(image.depth_m, 5.96, rtol=1e-6)


def test_pieces_change_nothing():
    """One world is drawn in more pieces than many: the same bytes in each."""
    images = []
    for worlds in (1, 9):
        _, (image,) = see(yard(), lens(128, 128), worlds=worlds, moving=MOVING, outputs={"depth", "normals", "face_id"})
        images.append(image)
    objects = layout(yard(), 1)
    spans = [frame(128, 128, heads, objects, one_instant=True).span for heads in (1, 9)]
    assert spans[0] < spans[1] == 128 * 128
    for name in ("depth", "normals", "face_id"):
        np.testing.assert_array_equal(images[0].images[name][0], images[1].images[name][5])


def test_spans_are_rows_of_tiles():
    objects = layout(yard(), 1)
    for width, height, heads in ((64, 64, 1), (640, 480, 3), (1280, 8, 1000)):
        made = frame(width, height, heads, objects, one_instant=True)
        assert made.rasterized
        assert made.span % (width * TILE_ROWS) == 0
        assert made.span <= width * height


def test_one_small_image_is_cut_only_where_there_are_threads_for_it():
    objects, before = layout(yard(), 1), worker_pool.get_threads()
    try:
        spans = {}
        for count in (1, 2, 8):
            worker_pool.set_threads(count)
            spans[count] = [frame(64, 64, heads, objects, one_instant=True).span for heads in (1, 8)]
    finally:
        worker_pool.set_threads(before)
    assert spans == {1: [4096, 4096], 2: [2048, 4096], 8: [2048, 4096]}


def test_few_pixels_of_many_objects_are_traced():
    """Looking at each object once costs more than the rays then."""
    assert not frame(8, 8, 1, layout(yard(), 1), one_instant=True).rasterized


def test_bodies_hidden_from_one_camera_are_drawn_for_another():
    world = sn.worlds.Kinematic({"eye": sn.paths.Line((0.0, 0.0, 1.5), (0.0, 0.0, 0.0)), **MOVING}, step_s=0.1)
    env = sn.Environment(yard(), world)
    spec = sn.DepthCamera(pattern=DRAWN, outputs={"segmentation"})
    number = 1 + len({"ground", "wall", "kind0", "kind1", "kind2", "kind3"})
    all_seen = env.attach(spec, body="eye", name="all")
    without = env.attach(spec, body="eye", name="without", hide=["ball"])
    env.step()
    assert (all_seen.read().segmentation == number).any()
    assert not (without.read().segmentation == number).any()


def test_rays_traced_after_an_image_was_drawn_meet_things_where_they_are_now():
    """Drawing commits nothing: a lidar on the same instants must not see a scene that was committed long ago."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 8.0, 8.0), body="door")
    moving = {
        "eye": sn.paths.Line((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        "door": sn.paths.Line((3.1, 0.0, 0.0), (5.0, 0.0, 0.0)),
    }
    env = sn.Environment(scene, sn.worlds.Kinematic(moving, step_s=0.1))
    camera = env.attach(sn.DepthCamera(pattern=DRAWN, outputs={"depth"}), body="eye")
    caster = env.attach(sn.DepthCamera(pattern=TRACED, outputs={"depth"}), body="eye", name="traced")
    for step in range(1, 5):
        env.step()
        for sensor in (camera, caster):
            assert sensor.read().depth_m[12, 15] == pytest.approx(3.0 + 0.5 * step, rel=1e-5)
