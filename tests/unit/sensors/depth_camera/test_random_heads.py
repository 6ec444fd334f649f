"""Random placement and lenses of depth cameras: limits, laws, when they are drawn, and that images follow them."""

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.core.errors import SpecError

LENS = sn.patterns.Pinhole.from_fov(17, 13, 80.0, rate_hz=10.0)
PLACEMENT = sn.Placement(
    min_translation_m=(0.07, -0.06, 0.01),
    max_translation_m=(0.12, 0.03, 0.04),
    min_rotation_deg=(-5.0, -10.0, -15.0),
    max_rotation_deg=(5.0, 20.0, 15.0),
)
NOMINAL = sn.Pose.from_euler_deg((0.1, 0.0, 0.03), pitch=10.0)


def rig(randomize, *, worlds=6, pattern=LENS, pose=NOMINAL, seed=0, **options):
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 60.0, 60.0), pose=sn.Pose(position=(5.1, 0.0, 0.0)))
    world = sn.worlds.Kinematic({"eye": sn.paths.Line(start=(0, 0, 1.5), velocity=(1.0, 0.0, 0.0))}, step_s=0.1)
    env = sn.Environment(scene, world, worlds=worlds, seed=seed, **options)
    camera = sn.DepthCamera(
        pattern=pattern, outputs={"depth", "range", "points"}, max_range_m=50.0, min_range_m=0.0, randomize=randomize
    )
    return env, env.attach(camera, body="eye", pose=pose)


def offsets(image, pose=NOMINAL):
    """X_NS of each camera: translation [m] and roll, pitch, yaw [deg]."""
    X_WB = sn.Pose(position=(image.start_ns * 1e-9, 0.0, 1.5))
    nominal = X_WB @ (pose if isinstance(pose, sn.Pose) else sn.Pose.stack(pose))
    X_NS = nominal.inverse() @ image.X_WS[0]
    R = X_NS.rotation
    roll, pitch, yaw = (
        np.arctan2(R[..., 2, 1], R[..., 2, 2]),
        -np.arcsin(R[..., 2, 0]),
        np.arctan2(R[..., 1, 0], R[..., 0, 0]),
    )
    return np.concatenate([X_NS.position, np.degrees(np.stack([roll, pitch, yaw], -1))], axis=-1)


def test_placements_are_even_between_their_limits():
    env, camera = rig(sn.Randomization(placement=PLACEMENT), worlds=800)
    env.step()
    drawn = offsets(camera.read()).reshape(-1, 6)
    least = np.array([*PLACEMENT.min_translation_m, *PLACEMENT.min_rotation_deg])
    most = np.array([*PLACEMENT.max_translation_m, *PLACEMENT.max_rotation_deg])
    share = (drawn - least) / (most - least)
    for column in range(6):
        assert stats.kstest(share[:, column], "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(share.T) - np.eye(6)).max() < 0.15


def test_a_placement_is_the_nominal_pose_times_the_drawn_one():
    """Against the algebra of poses, from the angles that are read off the result."""
    env, camera = rig(sn.Randomization(placement=PLACEMENT), pose=[NOMINAL, sn.Pose.from_euler_deg(yaw=90.0)])
    env.step()
    image, nominal = camera.read(), [NOMINAL, sn.Pose.from_euler_deg(yaw=90.0)]
    drawn = offsets(image, nominal)
    X_NS = sn.Pose.from_euler_deg(drawn[..., :3], *np.moveaxis(drawn[..., 3:], -1, 0))
    X_WB = sn.Pose(position=(image.start_ns * 1e-9, 0.0, 1.5))
    expected = X_WB @ sn.Pose.stack(nominal) @ X_NS
    np.testing.assert_allclose(image.X_WS[0].position, expected.position, atol=1e-12)
    np.testing.assert_allclose(image.X_WS[0].rotation, expected.rotation, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(image.X_WS[0].quaternion, axis=-1), 1.0, rtol=1e-14)


def test_depth_is_that_of_the_placement():
    """Range to the wall from where the camera says it is, along where it says its pixels look."""
    randomize = sn.Randomization(
        placement=PLACEMENT, intrinsics=sn.Intrinsics(fov_deg=(40.0, 100.0), min_shift_px=(-3, -2), max_shift_px=(2, 3))
    )
    env, camera = rig(randomize, pose=[NOMINAL, sn.Pose()])
    env.step()
    image = camera.read()
    v, u = np.mgrid[0:13, 0:17]
    xy = (np.stack([u, v], -1) - image.center_px[:, :, None, None]) / image.focal_px[:, :, None, None]
    d = np.concatenate([np.ones((*xy.shape[:-1], 1)), -xy], -1)
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    X_WS = image.X_WS[0][:, :, None, None]
    range_m = (5.0 - X_WS.position[..., 0]) / X_WS.rotate(d)[..., 0]
    np.testing.assert_allclose(image.range_m, range_m, rtol=2e-6)
    np.testing.assert_allclose(image.depth_m, range_m * d[..., 0], rtol=2e-6)
    fov_deg = 2.0 * np.degrees(np.arctan(0.5 * 17 / image.focal_px[..., 0]))
    assert 40.0 <= fov_deg.min() < fov_deg.max() <= 100.0
    np.testing.assert_allclose(image.focal_px[..., 0], image.focal_px[..., 1])
    shift = image.center_px - np.array(LENS.center)
    assert ((shift >= (-3, -2)) & (shift <= (2, 3))).all()
    assert len(np.unique(image.focal_px[..., 0])) == 12


def test_drawn_at_the_start_and_at_a_reset_and_only_there():
    env, camera = rig(sn.Randomization(placement=PLACEMENT))
    env.step()
    first = offsets(camera.read())
    env.step()
    np.testing.assert_allclose(offsets(camera.read()), first, atol=1e-9)
    mask = np.array([False, True, False, False, True, False])
    env.reset(mask)
    env.step()
    image = camera.read()
    X_WS = image.X_WS[0]
    moved = np.abs(X_WS.position[:, 0, 1] - first[:, 0, 1]) > 1e-9  # across the way of the body
    np.testing.assert_array_equal(moved, mask)
    env.reset()
    env.step()
    again = camera.read().X_WS[0].position[:, 0, 1]
    assert (np.abs(again - X_WS.position[:, 0, 1]) > 1e-9).all()


def test_drawn_at_every_image_if_so_wished():
    env, camera = rig(sn.Randomization(when="step", placement=PLACEMENT))
    seen = []
    for _ in range(3):
        env.step()
        seen.append(offsets(camera.read()))
    assert (np.abs(np.diff(seen, axis=0)) > 1e-9).all()


def test_draws_belong_to_the_world_and_not_to_the_batch():
    randomize = sn.Randomization(
        placement=PLACEMENT, intrinsics=sn.Intrinsics(fov_deg=(50.0, 70.0)), ray_jitter_rad=1e-3
    )
    env, camera = rig(randomize, worlds=4, seed=3)
    env.step()
    one, single = rig(randomize, worlds=1, first_world=3, seed=3)
    one.step()
    for name, image in camera.read().images.items():
        np.testing.assert_array_equal(image[3], single.read().images[name][0])


def test_projections_are_chosen_with_equal_chances():
    wide = sn.patterns.Fisheye(width=17, height=13, focal_px=(8.0, 8.0), rate_hz=10.0)
    bent = LENS.model_copy(update={"distortion": (-0.1, 0.0, 0.0, 0.0, 0.0)})
    env, camera = rig(sn.Randomization(projections=(wide, bent)), worlds=300, pose=None)
    env.step()
    image = camera.read()
    of_wide = image.focal_px[:, 0] == 8.0
    assert abs(of_wide.mean() - 0.5) < 0.1
    np.testing.assert_array_equal(image.projection, np.where(of_wide, 0, 1))
    for chosen, pattern in ((of_wide, wide), (~of_wide, bent)):
        d = pattern.rays().direction_S
        ahead = d[..., 0] > 0.1
        expected = (4.9 / d[..., 0])[ahead]  # the body has gone 0.1 m
        np.testing.assert_allclose(
            image.range_m[chosen][:, ahead], np.broadcast_to(expected, (chosen.sum(), ahead.sum())), rtol=3e-6
        )


def test_an_image_tells_which_lens_each_camera_has_and_keeps_it():
    lenses = tuple(LENS.model_copy(update={"focal_px": (focal, focal)}) for focal in (10.0, 11.0, 12.0))
    env, camera = rig(sn.Randomization(projections=lenses), worlds=40, pose=[NOMINAL, NOMINAL])
    env.step()
    first = camera.read()
    assert first.projection.shape == (40, 2)
    assert set(first.projection.ravel()) == {0, 1, 2}
    np.testing.assert_array_equal(first.focal_px[..., 0], 10.0 + first.projection)
    told = first.projection.copy()

    # Only worlds that restart have others, and images taken before still tell their own
    mask = np.arange(40) < 20
    env.reset(mask)
    env.step()
    second = camera.read()
    np.testing.assert_array_equal(second.focal_px[..., 0], 10.0 + second.projection)
    np.testing.assert_array_equal(second.projection[20:], told[20:])
    assert (second.projection[:20] != told[:20]).any()
    np.testing.assert_array_equal(first.projection, told)


@pytest.mark.parametrize("worlds", [None, 3])
def test_without_lenses_to_choose_from_all_have_the_first(worlds):
    env, camera = rig(None, worlds=worlds)
    env.step()
    image = camera.read()
    assert image.projection.shape == (() if worlds is None else (3,))
    assert not image.projection.any()
    with pytest.raises(ValueError, match="read-only"):
        image.projection[...] = 1


def test_jittered_rays_stay_until_they_are_drawn_anew():
    env, camera = rig(sn.Randomization(ray_jitter_rad=2e-3), worlds=20, pose=None)
    env.step()
    first = camera.read()
    d = first.points / first.range_m[..., None]
    away = np.cross(d, LENS.rays().direction_S)
    assert np.sqrt((away**2).sum(-1).mean() / 2.0) == pytest.approx(2e-3, rel=0.05)
    env.step()
    second = camera.read()
    np.testing.assert_allclose(second.points / second.range_m[..., None], d, atol=2e-7)
    env.reset()
    env.step()
    third = camera.read()
    assert np.abs(third.points / third.range_m[..., None] - d).max() > 1e-3


def _folding(*shift_px):
    """The k1 whose radius turns back just before the farthest corner of LENS shifted so far."""
    outer = (np.array([LENS.width, LENS.height]) / 2 + shift_px) / LENS.focal_px
    return -4.0 / 27.0 / (0.999 * np.hypot(*outer)) ** 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sn.Placement(min_translation_m=(1, 0, 0)), "min_translation_m is"),
        (lambda: sn.Placement(max_rotation_deg=(0, -1, 0)), "max_rotation_deg"),
        (lambda: sn.Intrinsics(fov_deg=(90.0, 60.0)), "fov_deg is"),
        (lambda: sn.Intrinsics(min_shift_px=(2.0, 0.0)), "min_shift_px is"),
        (
            lambda: rig(sn.Randomization(projections=(LENS.model_copy(update={"width": 18}),))),
            "projections has 18 x 13 pixels",
        ),
        (
            lambda: rig(
                sn.Randomization(intrinsics=sn.Intrinsics(fov_deg=(60.0, 150.0))),
                pattern=LENS.model_copy(update={"distortion": (-0.3, 0.0, 0.0, 0.0, 0.0)}),
            ),
            "no ray comes to the image point",
        ),
        (  # neither shift alone, nor both along the other diagonal, brings a corner beyond the fold
            lambda: rig(
                sn.Randomization(intrinsics=sn.Intrinsics(min_shift_px=(-3.0, 0.0), max_shift_px=(0.0, 3.0))),
                pattern=LENS.model_copy(update={"distortion": (_folding(3.0, 3.0), 0.0, 0.0, 0.0, 0.0)}),
            ),
            "randomize.intrinsics: no ray comes to the image point",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, message):
    with pytest.raises(SpecError, match=message):
        make()
