"""Depth cameras: closed forms, the order of noise and limits, labels, worlds, what is drawn, and what is refused."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_quantization import DepthQuantization

OUTPUTS = frozenset(
    {"depth", "range", "points", "segmentation", "object_id", "normals", "face_id", "flow", "scene_flow", "color"}
)
LENS = sn.patterns.Pinhole.from_fov(32, 24, 87.0, rate_hz=10.0)
EYE = sn.paths.Line(start=(0.0, 0.0, 1.5), velocity=(0.0, 0.0, 0.0))


def spec(pattern=LENS, **options):
    fields = {"pattern": pattern, "outputs": OUTPUTS, "min_range_m": 0.1, "max_range_m": 50.0}
    return sn.DepthCamera(**fields | options)


def look(camera, scene, moving=None, *, steps=1, pose=None, worlds=None, **options):
    """A camera on a body "eye" after some steps of 0.1 s."""
    world = sn.worlds.Kinematic({"eye": EYE, **(moving or {})}, step_s=0.1)
    env = sn.Environment(scene, world, worlds=worlds, **options)
    sensor = env.attach(camera, body="eye", pose=pose)
    for _ in range(steps):
        env.step()
    return env, sensor


@pytest.fixture(scope="module")
def wall():
    """A wall across x at 5 m, and a ball in front of it, off the axis."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(5.1, 0.0, 0.0)), label="wall")
    scene.add(sn.shapes.sphere(0.5), pose=sn.Pose(position=(3.0, 1.0, 1.0)), label="ball")
    return scene


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_a_plane_across_the_axis_has_one_depth_and_the_range_of_its_angle(wall):
    image = look(spec(), wall)[1].read()
    behind = image.segmentation == 1
    assert 0.5 < behind.mean() < 1.0
    np.testing.assert_allclose(image.depth_m[behind], 5.0, rtol=1e-5)
    axial = LENS.rays().direction_S[..., 0]
    np.testing.assert_allclose(image.range_m[behind], (5.0 / axial)[behind], rtol=1e-5)
    np.testing.assert_allclose(image.points, image.range_m[..., None] * LENS.rays().direction_S, rtol=1e-5)
    np.testing.assert_allclose(image.normals[behind], np.broadcast_to([-1.0, 0.0, 0.0], (behind.sum(), 3)), atol=1e-6)


def test_an_oblique_plane_is_where_the_ray_meets_it():
    """Range = n.p / n.d for the plane n.x = n.p; the ground 1.5 m below a camera that looks down by 30 degrees."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(400.0), label="ground")
    pose = sn.Pose.from_euler_deg(pitch=30.0)
    image = look(spec(max_range_m=1000.0), scene, pose=pose)[1].read()
    down = pose.rotate(LENS.rays().direction_S)[..., 2]
    seen = down < -0.01
    np.testing.assert_allclose(image.range_m[seen], -1.5 / down[seen], rtol=1e-5)
    assert (image.segmentation[down > 0] == -1).all()
    normals_W = pose.rotate(image.normals[seen])
    np.testing.assert_allclose(normals_W, np.broadcast_to([0.0, 0.0, 1.0], normals_W.shape), atol=1e-6)


def test_a_sphere_is_as_far_as_the_quadratic_says():
    """A sphere so fine that its sag is 1e-5 of the distance: t = b - sqrt(b^2 - c), b = d.o, c = o.o - r^2."""
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(0.05, subdivisions=5), pose=sn.Pose(position=(4.0, 0.0, 1.5)))
    pattern = sn.patterns.Pinhole.from_fov(32, 32, 1.0, rate_hz=10.0)
    image = look(spec(pattern, outputs={"range"}), scene)[1].read()
    d, o = pattern.rays().direction_S.astype(np.float64), np.array([4.0, 0.0, 0.0])
    b = d @ o
    inside = b**2 - (o @ o - 0.05**2)
    well = inside > 0.035**2  # nearer to the rim the facets show
    assert well.sum() > 300
    np.testing.assert_allclose(image.range_m[well], (b - np.sqrt(np.maximum(inside, 0.0)))[well], rtol=1e-5)


def test_rays_go_through_the_middle_of_pixels():
    """An edge at 3/8 of a pixel right of the axis shows in the pixel whose middle it has not reached."""
    pattern = sn.patterns.Pinhole.from_fov(8, 8, 90.0, rate_hz=10.0)  # f = 4 px, middles at +-1/2, +-3/2 ...
    for edge_px, hit in ((0.375, False), (0.625, True)):
        scene = sn.Scene()
        half = 10.0
        left = sn.Pose(position=(4.05, half - edge_px, 1.5))  # from the edge to the left, at 4 m
        scene.add(sn.shapes.box(0.1, 2.0 * half, 2.0), pose=left)
        image = look(spec(pattern, outputs={"depth"}), scene)[1].read()
        assert image.valid[4, 3]
        assert image.valid[4, 4] == hit


def test_a_fisheye_sees_the_wall_at_its_angles(wall):
    pattern = sn.patterns.Fisheye(width=33, height=33, focal_px=(12.0, 12.0), rate_hz=10.0)
    image = look(spec(pattern), wall)[1].read()
    axial = pattern.rays().direction_S[..., 0]
    seen = image.segmentation == 1
    assert seen.sum() > 300
    np.testing.assert_allclose(image.range_m[seen], (5.0 / axial)[seen], rtol=1e-5)
    np.testing.assert_allclose(image.depth_m[seen], 5.0, rtol=1e-5)


def test_normals_face_the_camera_from_inside_and_outside():
    scene = sn.Scene()
    scene.add(sn.shapes.box(8.0, 6.0, 4.0), pose=sn.Pose.from_euler_deg((0.0, 0.0, 1.5), yaw=20.0))
    scene.add(sn.shapes.sphere(0.4), pose=sn.Pose(position=(2.0, 0.3, 1.4)))
    image = look(spec(), scene)[1].read()
    assert (image.face_id >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(image.normals, axis=-1), 1.0, atol=1e-6)
    assert (np.einsum("ijk,ijk->ij", image.normals, LENS.rays().direction_S) < 0.0).all()


# --- what is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_each_output_alone_is_that_of_all_together(wall, name):
    everything, alone = look(spec(), wall)[1].read(), look(spec(outputs={name}), wall)[1].read()
    assert list(alone.images) == [name]
    np.testing.assert_array_equal(alone.images[name], everything.images[name])
    other = "depth" if name != "depth" else "range"
    with pytest.raises(SpecError, match=f"{other} is not among the outputs, {name}"):
        getattr(alone, f"{other}_m")


def test_points_normals_and_scene_flow_in_the_world(wall):
    pose = sn.Pose.from_euler_deg((0.3, -0.2, 0.4), roll=20.0, pitch=10.0, yaw=-15.0)
    moving = {"eye": sn.paths.Circle(center=(0.0, 0.0, 1.0), radius=0.5, rate=0.7)}
    here, there = (look(spec(frame=f), wall, moving, pose=pose)[1].read() for f in ("sensor", "world"))
    X_WS = here.X_WS[0, 0, 0]
    valid = here.valid
    assert there.points.dtype == np.float64
    np.testing.assert_allclose(there.points[valid], X_WS.apply(here.points[valid]), atol=2e-6)
    assert (there.points[~valid] == 0.0).all()
    np.testing.assert_allclose(there.normals, X_WS.rotate(here.normals), atol=1e-6)
    assert (there.scene_flow == 0.0).all()  # nothing but the camera moves
    assert np.abs(here.scene_flow[valid]).max() > 0.3


def test_axes_of_worlds_and_sensors_come_first(wall):
    poses = [sn.Pose(), sn.Pose.from_euler_deg(yaw=10.0)]
    _, many = look(spec(), wall, worlds=3, pose=poses)
    image = many.read()
    for name, array in image.images.items():
        assert array.shape[:4] == (3, 2, 24, 32), name
    _, one = look(spec(), wall, pose=poses[1])
    for name, array in one.read().images.items():
        np.testing.assert_array_equal(image.images[name][2, 1], array)
    assert image.focal_px.shape == (3, 2, 2)


def test_labels_of_faces_and_numbers_of_faces():
    box = sn.shapes.box(2.0, 2.0, 2.0)
    labels = np.arange(len(box.faces)) + 40
    mesh = sn.Mesh(box.vertices, box.faces, face_properties={"label": labels})
    scene = sn.Scene()
    scene.add(mesh, pose=sn.Pose(position=(4.0, 0.0, 1.5)))
    image = look(spec(), scene)[1].read()
    seen = image.face_id >= 0
    np.testing.assert_array_equal(image.segmentation[seen], image.face_id[seen] + 40)
    assert (image.segmentation[~seen] == -1).all()


# --- limits, noise, dropout -------------------------------------------------------------------------------------------


def test_beyond_the_limits_are_near_and_far_values(wall):
    image = look(spec(min_range_m=2.95, max_range_m=6.0), wall)[1].read()
    true = look(spec(), wall)[1].read()
    near, far = true.range_m < 2.95, true.range_m > 6.0
    assert near.any()
    assert far.any()
    for shown in (image.depth_m, image.range_m):
        assert (shown[near] == -6.0).all()
        assert (shown[far] == 6.0).all()
    np.testing.assert_array_equal(image.valid, ~near & ~far)
    assert (image.points[near | far] == 0.0).all()
    assert (image.segmentation[far] == -1).all()
    np.testing.assert_array_equal(image.segmentation[near], true.segmentation[near])  # it is there, only too near

    normal = look(spec(min_range_m=2.95, max_range_m=6.0, normalize=True), wall)[1].read()
    np.testing.assert_allclose(normal.images["depth"], image.depth_m / 6.0, rtol=1e-6)
    assert (normal.images["range"][near] == -1.0).all()
    assert (normal.images["range"][far] == 1.0).all()
    with pytest.raises(SpecError, match=r"depth_m is asked of an image of shares of 6 m .* images\['depth'\]"):
        _ = normal.depth_m
    world = look(spec(max_range_m=6.0, normalize=True, frame="world"), wall)[1].read()
    assert world.points[..., 0].max() == pytest.approx(5.0, abs=1e-5)  # never normalized in the world
    own = look(spec(min_range_m=2.95, max_range_m=6.0, near_value_m=-1.0, far_value_m=99.0), wall)[1].read()
    assert (own.depth_m[near] == -1.0).all()
    assert (own.depth_m[far] == 99.0).all()


@pytest.mark.parametrize("max_range_m", [1.7, 2.1, 3.1, 9.7, 29.9])
def test_what_is_no_measurement_is_told_apart_in_any_unit(wall, max_range_m):
    """1 / 9.7 times 9.7 is not 1 in float32: far, near and dropped are shown as they are, not scaled."""
    limits = {"min_range_m": 0.9 * max_range_m, "max_range_m": max_range_m, "normalize": True}
    image = look(spec(**limits, outputs={"depth", "range"}), wall, pose=sn.Pose((5.0 - 0.95 * max_range_m, 0.0, 0.0)))[
        1
    ].read()
    truth = look(spec(outputs={"range"}), wall, pose=sn.Pose((5.0 - 0.95 * max_range_m, 0.0, 0.0)))[1].read().range_m
    near, far = truth < 0.9 * max_range_m, truth > max_range_m
    assert near.any() or far.any()
    assert (image.images["range"][far] == 1.0).all()
    assert (image.images["range"][near] == -1.0).all()
    np.testing.assert_array_equal(image.valid, ~near & ~far)
    in_meters = image.in_meters(image.images["range"])
    np.testing.assert_array_equal(np.isposinf(in_meters), far)
    np.testing.assert_array_equal(np.isneginf(in_meters), near)
    np.testing.assert_allclose(in_meters[image.valid], truth[image.valid], rtol=1e-6)
    assert image.in_meters(image.images["range"][0, 0]).shape == ()


def test_a_value_for_near_may_be_that_of_dropped_pixels_where_none_are_dropped(wall):
    near = {"min_range_m": 5.05, "near_value_m": 0.0, "outputs": {"depth"}}
    plain = look(spec(**near), wall)[1].read()
    assert np.isneginf(plain.in_meters(plain.depth_m)).any()
    assert not np.isnan(plain.in_meters(plain.depth_m)).any()
    noisy = look(spec(**near, noise=sn.DepthNoise(dropout=0.5)), wall)[1].read()
    assert np.isnan(noisy.in_meters(noisy.depth_m)).any()


def test_which_object_a_pixel_sees(wall):
    image = look(spec(), wall)[1].read()
    objects = {number: each.label for number, each in enumerate(wall.objects)}
    seen = image.object_id >= 0
    np.testing.assert_array_equal(seen, image.segmentation >= 0)
    labels = [wall.labels.get(objects[number], 0) for number in image.object_id[seen].tolist()]
    np.testing.assert_array_equal(labels, image.segmentation[seen])
    assert len(set(labels)) == len(np.unique(image.object_id[seen]))


def test_an_image_says_in_one_line_what_it_is(wall):
    text = repr(look(spec(outputs={"depth", "normals"}), wall)[1].read())
    assert text == "DepthImage(depth (24, 32), normals (24, 32, 3), at 0.1 s)"


def test_noise_is_a_share_of_the_range_and_carries_the_points_along(wall):
    _, sensor = look(spec(noise=sn.DepthNoise(multiplier=0.01)), wall, worlds=12)
    noisy, truth = sensor.read(), sensor.truth()
    ideal = look(spec(), wall)[1].read()
    for name, image in truth.images.items():
        np.testing.assert_array_equal(image[5], ideal.images[name], err_msg=name)
    share = (noisy.range_m / truth.range_m - 1.0) / 0.01
    assert abs(share.mean()) < 4.0 / np.sqrt(share.size)
    assert share.std() == pytest.approx(1.0, abs=4.0 / np.sqrt(2.0 * share.size))
    np.testing.assert_allclose(np.linalg.norm(noisy.points, axis=-1), noisy.range_m, rtol=1e-6)
    np.testing.assert_allclose(noisy.depth_m / noisy.range_m, truth.depth_m / truth.range_m, rtol=1e-6)
    np.testing.assert_array_equal(noisy.segmentation, truth.segmentation)
    assert len(np.unique(share)) > 0.98 * share.size


def test_noise_comes_before_limits_and_dropout_after_them(wall):
    """A wall at the very limit: noise decides which side; a dropped pixel shows 0 whatever it saw."""
    pattern = sn.patterns.Pinhole.from_fov(32, 32, 1.0, rate_hz=10.0)
    noise = sn.DepthNoise(multiplier=0.02, dropout=0.3)
    camera = spec(pattern, outputs={"depth", "segmentation"}, max_range_m=5.001, noise=noise, normalize=True)
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(5.1, 0.0, 0.0)), label="wall")
    image = look(camera, scene, worlds=8)[1].read()
    dropped, far = image.images["depth"] == 0.0, image.images["depth"] == 1.0
    assert dropped.mean() == pytest.approx(0.3, abs=0.025)
    assert far.sum() / (~dropped).sum() == pytest.approx(0.5, abs=0.03)
    assert (image.segmentation == 1).all()
    np.testing.assert_array_equal(image.valid, ~dropped & ~far)
    near = spec(pattern, outputs={"depth"}, noise=sn.DepthNoise(dropout=0.3, dropped="near"), near_value_m=-7.0)
    assert (look(near, scene)[1].read().depth_m == -7.0).mean() == pytest.approx(0.3, abs=0.06)


def test_numbers_belong_to_pixel_image_and_world(wall):
    camera = spec(noise=sn.DepthNoise(multiplier=0.05, dropout=0.1), outputs={"depth"})
    _, many = look(camera, wall, worlds=3, seed=4)
    _, alone = look(camera, wall, worlds=1, first_world=2, seed=4)
    np.testing.assert_array_equal(many.read().depth_m[2], alone.read().depth_m[0])
    assert (many.read().depth_m[0] != many.read().depth_m[1]).mean() > 0.8
    later = look(camera, wall, steps=2, worlds=3, seed=4)[1].read()
    assert (later.depth_m != many.read().depth_m).mean() > 0.8
    with_labels = look(spec(noise=camera.noise), wall, worlds=3, seed=4)[1].read()
    np.testing.assert_array_equal(with_labels.depth_m, many.read().depth_m)


def test_errors_act_between_the_cast_and_the_limits(wall):
    camera = spec(errors=(DepthQuantization(step_m=0.7),), outputs={"depth", "range", "points", "segmentation"})
    _, sensor = look(camera, wall)
    image, truth = sensor.read(), sensor.truth()
    np.testing.assert_allclose(image.depth_m, np.rint(truth.depth_m / 0.7) * 0.7, rtol=1e-5)
    np.testing.assert_allclose(image.points[..., 0], image.depth_m, rtol=1e-5)
    ideal = look(spec(), wall)[1].read()
    np.testing.assert_array_equal(truth.range_m, ideal.range_m)
    np.testing.assert_array_equal(image.segmentation, ideal.segmentation)


# --- motion -----------------------------------------------------------------------------------------------------------


def test_a_rolling_shutter_sees_each_row_at_its_time(wall):
    """A camera that flies at the wall: row r is taken r line times later, and the wall is nearer by as much."""
    pattern = LENS.model_copy(update={"line_time_s": 0.002})
    camera = spec(pattern, outputs={"depth", "segmentation"})
    moving = {"eye": sn.paths.Line(start=(0.0, 0.0, 1.5), velocity=(10.0, 0.0, 0.0))}
    image = look(camera, wall, moving, steps=2)[1].read()
    assert image.end_ns - image.start_ns == 23 * 2_000_000 + 1
    behind = image.segmentation == 1
    expected = 5.0 - 10.0 * (image.start_ns * 1e-9 + 0.002 * np.arange(24))
    np.testing.assert_allclose(
        image.depth_m[behind], np.broadcast_to(expected[:, None], behind.shape)[behind], rtol=1e-5
    )


def test_hidden_bodies_are_not_seen(wall):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="eye", label="self")
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(5.1, 0.0, 0.0)), label="wall")
    env = sn.Environment(scene, sn.worlds.Kinematic({"eye": EYE}, step_s=0.1))
    inside = env.attach(spec(outputs={"segmentation"}), body="eye", name="inside")
    clear = env.attach(spec(outputs={"segmentation"}), body="eye", name="clear", hide=("eye",))
    env.step()
    assert (inside.read().segmentation == scene.labels["self"]).all()
    assert (clear.read().segmentation == scene.labels["wall"]).all()


def test_readings_on_their_way_are_void_in_worlds_that_restart(wall):
    camera = spec(outputs={"depth", "segmentation"}, timing=sn.Timing(latency_s=0.15))
    env, sensor = look(camera, wall, worlds=3)
    env.reset(np.array([False, True, False]))
    env.step(), env.step()
    first = sensor.readings()[0]
    assert (first.depth_m[1] == first.far).all()
    assert (first.segmentation[1] == -1).all()
    assert first.valid[[0, 2]].all()


# --- colors ----------------------------------------------------------------------------------------------------------


def test_colors_are_reflectance_under_a_lamp_or_the_sun():
    red = sn.Lambertian(reflectance=((400e-9, 0.1), (560e-9, 0.1), (600e-9, 0.8), (800e-9, 0.8)))
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(5.1, 0.0, 0.0)), material=red)
    lamp = look(spec(), scene)[1].read()
    axial = LENS.rays().direction_S[..., 0]
    light = 0.25 + 0.75 * axial
    for band, reflectance in enumerate((0.8, 0.1, 0.1)):
        np.testing.assert_allclose(lamp.color[..., band], 255.0 * np.sqrt(reflectance * light), atol=1.0)
    low = sn.fields.Sun(elevation_deg=30.0, azimuth_deg=180.0)
    sunny = look(spec(), scene, sun=low)[1].read()
    expected = 255.0 * np.sqrt(0.8 * (0.25 + 0.75 * np.cos(np.radians(30.0))))
    np.testing.assert_allclose(sunny.color[..., 0], expected, atol=1.0)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sn.patterns.Pinhole.from_fov(0, 8, 90.0, rate_hz=10.0), "width is 0; it must be greater than 0"),
        (lambda: sn.patterns.Pinhole.from_fov(8, -1, 90.0, rate_hz=10.0), "height is -1; it must be greater than 0"),
        (lambda: sn.patterns.Pinhole.from_fov(8, 8, 180.0, rate_hz=10.0), "horizontal_fov_deg is 180.0"),
        (lambda: spec(min_range_m=3.0, max_range_m=2.0), "min_range_m is 3.0 and max_range_m 2.0; the first must be"),
        (lambda: spec(outputs={"depht"}), "outputs"),
        (lambda: spec(outputs=set()), "outputs"),
        (lambda: spec(noise={"dropout": 1.5}), "noise.dropout is 1.5; it must be less than or equal to 1"),
        (lambda: spec(timing=sn.Timing(jitter_s=0.1)), "timing.jitter_s is 0.1; a depth camera has no jitter"),
        (lambda: spec(timing=sn.Timing(rate_hz=7.0)), "timing.rate_hz is 7.0; images come at the pattern's rate, 10.0"),
        (
            lambda: spec(LENS.model_copy(update={"line_time_s": 0.001}), outputs={"flow"}),
            "outputs has 'flow' with pattern.line_time_s 0.001",
        ),
        (
            lambda: spec(
                LENS.model_copy(update={"line_time_s": 0.001}), outputs={"depth"}, errors=(DepthQuantization(),)
            ),
            "errors has 'quantization' with a rolling shutter",
        ),
        (
            lambda: spec(
                sn.patterns.Fisheye(width=8, height=8, focal_px=(3.0, 3.0), rate_hz=10.0), errors=(DepthQuantization(),)
            ),
            "along 'depth' with a fisheye",
        ),
        (
            lambda: spec(randomize=sn.Randomization(intrinsics=sn.Intrinsics(fov_deg=(60.0, 190.0)))),
            "randomize.intrinsics.fov_deg reaches 190.0; a pinhole's must stay below 180",
        ),
        (
            lambda: sn.Scene().add(sn.shapes.box(1, 1, 1), label=2**31),
            "label is 2147483648",
        ),
        (lambda: sn.Scene().add(sn.shapes.box(1, 1, 1), label=-1), "label is -1"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(sn.SensoriumError, match=message.replace("(", r"\(")):
        make()


def test_a_rolling_image_of_a_camera_that_stands_still_is_taken_row_by_row():
    line_time_s, speed = 5e-3, 5.0
    pattern = sn.patterns.Pinhole.from_fov(16, 12, 60.0, rate_hz=10.0, line_time_s=line_time_s)
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 30.0, 30.0), body="panel")
    panel = sn.paths.Line(start=(5.5, 0.0, 0.0), velocity=(speed, 0.0, 0.0))

    # Whatever else is asked for
    for outputs in ({"depth"}, {"depth", "normals"}, {"range", "depth", "segmentation"}):
        env = sn.Environment(scene, sn.worlds.Kinematic({"panel": panel}, step_s=0.1))
        camera = env.attach(sn.DepthCamera(pattern=pattern, outputs=outputs, max_range_m=50.0))
        env.step()
        expected = 5.0 + speed * line_time_s * np.arange(12)
        np.testing.assert_allclose(camera.read().depth_m, np.repeat(expected[:, None], 16, axis=1), rtol=1e-5)
