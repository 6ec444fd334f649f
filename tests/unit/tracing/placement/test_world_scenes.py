import numpy as np

import sensorium as sn
from sensorium.qa.benchmarks.memory import embree_held
from sensorium.scene.layout import layout
from sensorium.tracing.placement.scenes import PlacedScenes


def test_rays_meet_what_each_world_has_when_its_scene_is_made_late():
    worlds = 7
    assets = [sn.shapes.box(1, 1, 1), sn.shapes.box(3, 3, 3)]
    index = np.arange(worlds)[:, None] % 2
    pose = sn.Pose(np.stack([np.arange(worlds) + 5.0, np.zeros(worlds), np.zeros(worlds)], axis=-1)[:, None])
    scene = sn.SceneBatch(assets, index.astype(np.int32), pose)
    env = sn.Environment(scene, worlds=worlds)
    ray = sn.patterns.Table(azimuth_deg=(0,), elevation_deg=(0,), time_s=(0,), rate_hz=10)
    lidar = env.attach(sn.Lidar(pattern=ray, motion="snapshot"))
    drawn = env.attach(sn.DepthCamera(pattern=sn.patterns.Pinhole.from_fov(16, 16, 60.0, rate_hz=10), max_range_m=30.0))
    while not (lidar.fresh and drawn.fresh):
        env.step()
    wanted = np.arange(worlds) + 5.0 - np.where(index[:, 0] == 0, 0.5, 1.5)
    np.testing.assert_allclose(lidar.read().range_m.reshape(worlds), wanted, rtol=1e-6)
    np.testing.assert_allclose(drawn.read().depth_m[:, 8, 8], wanted, rtol=1e-5)


def test_scenes_are_given_back_when_worlds_are_made_anew_and_at_the_end():
    objects, poses = sn.Scene(), (np.zeros((1, 40, 0, 3)), np.zeros((1, 40, 0, 4)))
    box = sn.shapes.box(1, 1, 1)
    for x in range(30):
        objects.add(box, pose=sn.Pose((2.0 * x, 0, 0)))
    with embree_held() as held_bytes:
        placed = PlacedScenes(layout(objects, 40), 40, ())
        meshes_alone = held_bytes()
        placed.begin_instant(np.empty((40, 3)))
        assert held_bytes() == meshes_alone  # nobody traces yet
        held = []
        for _ in range(5):
            placed._to_make = np.ones(40, np.bool_)
            placed.place(*poses, np.zeros((40, 3)))
            held.append(held_bytes())
        assert held[0] > meshes_alone + 40 * 30 * 4
        assert max(held[1:]) <= 1.01 * held[0]
        placed._to_make = np.ones(40, np.bool_)
        placed.begin_instant(np.empty((40, 3)))
        assert held_bytes() < meshes_alone + 0.05 * (held[0] - meshes_alone)
