import numpy as np

import sensorium as sn

PATTERN = sn.patterns.Spinning(elevation_deg=(-5.0, 0.0, 5.0), columns=200, rate_hz=10)
FIELDS = ("range_m", "points", "intensity", "cause", "depth", "mirror_id", "object_id", "face_id", "label")


def environment(**options):
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 20, 20), label="room")
    scene.add(sn.shapes.sphere(0.5), body="ball", label="ball")
    path = sn.paths.Circle(center=(4, 0, 0), radius=2.0, rate=3.0)
    env = sn.Environment(scene, sn.worlds.Kinematic({"ball": path}, step_s=0.02), seed=2)
    lidar = env.attach(sn.Lidar(pattern=PATTERN, mode="relative", noise=sn.RangeNoise(base_m=0.01), **options))
    return env, lidar


def test_a_reading_that_is_kept_does_not_change():
    env, lidar = environment(returns="dual")
    kept, copies = [], []
    for _ in env.run(duration_s=1.0):
        if lidar.fresh:
            kept.append((lidar.read(), lidar.truth()))
            copies.append([np.array(getattr(kept[-1][0], name)) for name in FIELDS])
    assert len(kept) == 10
    for (reading, truth), copy in zip(kept, copies, strict=True):
        for name, before in zip(FIELDS, copy, strict=True):
            np.testing.assert_array_equal(getattr(reading, name), before)
        assert truth.valid.all()
    assert not np.array_equal(kept[0][0].range_m, kept[1][0].range_m)


def test_truth_may_be_asked_for_late():
    env, lidar = environment()
    late = None
    truths = []
    for _ in env.run(duration_s=0.3):
        if lidar.fresh:
            truths.append(np.array(lidar.truth().range_m))
            late = lidar._last[1].truth if late is None else late
    np.testing.assert_array_equal(late().range_m, truths[0])


def test_shapes_of_readings():
    for returns, axis in (("strongest", ()), ("first", ()), ("dual", (2,)), ("all", (3,))):
        for sensors, row in ((sn.Pose(), ()), ([sn.Pose(), sn.Pose((1, 0, 0))], (2,))):
            scene = sn.Scene()
            scene.add(sn.shapes.box(20, 20, 20))
            env = sn.Environment(scene, worlds=2)
            lidar = env.attach(sn.Lidar(pattern=PATTERN, mode="relative", returns=returns), pose=sensors)
            for _ in env.run(duration_s=0.1):
                pass
            scan, shape = lidar.read(), (2, *row, *axis, 3, 200)
            for name in FIELDS:
                assert getattr(scan, name).shape == ((*shape, 3) if name == "points" else shape)
            assert scan.ray_time_ns.shape == shape
            assert lidar.truth().range_m.shape == (2, *row, 3, 200)
            flat = scan.flat()
            assert flat.range_m.shape == flat.intensity.shape == flat.cause.shape == (int(scan.valid.sum()),)
            assert flat.points.shape == (flat.range_m.size, 3)


def test_where_nothing_returns_everything_is_empty():
    env = sn.Environment(sn.Scene())
    lidar = env.attach(sn.Lidar(pattern=PATTERN, mode="relative", noise=sn.RangeNoise(base_m=1.0), max_depth=2))
    for _ in env.run(duration_s=0.1):
        pass
    scan = lidar.read()
    assert not scan.valid.any()
    for name in ("range_m", "points", "intensity", "cause", "depth"):
        assert not getattr(scan, name).any()
    for name in ("object_id", "face_id", "label", "mirror_id"):
        assert (getattr(scan, name) == -1).all()


def test_hidden_bodies_are_not_seen_by_light_either():
    scene = sn.Scene()
    scene.add(sn.shapes.box(20, 20, 20), label="room")
    scene.add(sn.shapes.sphere(0.5), body="own", label="own")
    env = sn.Environment(scene, sn.worlds.Static({"own": sn.Pose()}))
    seeing = env.attach(sn.Lidar(pattern=PATTERN, mode="relative"), name="a")
    blind = env.attach(sn.Lidar(pattern=PATTERN, mode="relative"), name="b", hide=["own"])
    for _ in env.run(duration_s=0.1):
        pass
    assert (seeing.read().object_id == 1).all()
    assert (blind.read().object_id == 0).all()
