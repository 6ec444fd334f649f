import numpy as np
import pytest

import sensorium as sn
from sensorium.scene.layout import layout
from sensorium.tracing.placement.motion import AFFINE, FIXED, PLACED, QUATERNION
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.placement.world_arrays import KIND_BITS, MASK_BITS, Objects, WorldArrays

ABSENT = 1 << 30


def scattered(rng, worlds, objects, bodies, *, alike=False):
    """Objects at random, some absent, some volumes, some on bodies of which some are hidden; and how bodies move."""
    rows = 1 if alike else worlds
    body = rng.integers(-1, bodies, objects).astype(np.int32)
    hidden = np.where(body >= 0, rng.integers(0, 3, objects), 0)
    bit = np.array([np.where(hidden == 0, free, hidden + 5 * kind) for kind, free in enumerate(KIND_BITS)])
    kind = rng.choice([0, 0, 0, 1, 2], (rows, objects)).astype(np.uint8)
    given = Objects(rng.integers(-1, 4, (rows, objects)).astype(np.int32), body, bit, kind)
    return given, rng.choice([PLACED, AFFINE, QUATERNION], (worlds, bodies)).astype(np.uint8)


def groups_of(objects, kinds, world):
    """The groups of a world by NumPy: (kind, mask, columns) each."""
    here = min(world, len(objects.mesh_index) - 1)
    kind = np.where(objects.body >= 0, kinds[world, objects.body], FIXED).astype(np.int64)
    bit = np.take_along_axis(objects.bit, objects.kind[here][None].astype(np.int64), axis=0)[0]
    key = np.where(objects.mesh_index[here] >= 0, MASK_BITS * kind + bit, ABSENT)
    return [
        (int(k) // MASK_BITS, 1 << (int(k) % MASK_BITS), np.flatnonzero(key == k).tolist())
        for k in np.unique(key[key < ABSENT])
    ]


def made(arrays, *given, **options):
    arrays.make(*given, **options)
    return arrays.tables


def arrays_of(tables, world):
    return [
        (
            int(tables.kind[a]),
            int(tables.mask[a]),
            tables.columns[tables.column_first[a] :][: tables.column_count[a]].tolist(),
        )
        for a in range(tables.first[world], tables.first[world + 1])
    ]


@pytest.mark.parametrize("alike", [False, True])
def test_objects_are_grouped_as_numpy_would(alike):
    rng = np.random.default_rng(3)
    for _ in range(20):
        worlds, objects, bodies = int(rng.integers(1, 8)), int(rng.integers(0, 40)), int(rng.integers(1, 6))
        given, kinds = scattered(rng, worlds, objects, bodies, alike=alike)
        tables = made(WorldArrays(worlds, objects), np.arange(worlds), given, kinds, knots=3)
        for world in range(worlds):
            assert arrays_of(tables, world) == groups_of(given, kinds, world)
            assert sorted(tables.columns.reshape(worlds, objects)[world]) == list(range(objects))


def test_worlds_that_are_made_anew_leave_the_others_alone():
    rng = np.random.default_rng(4)
    given, kinds = scattered(rng, 6, 30, 4)
    arrays = WorldArrays(6, 30)
    before = made(arrays, np.arange(6), given, kinds, knots=2)
    other, other_kinds = scattered(rng, 6, 30, 4)
    after = made(arrays, np.array([1, 4]), other, other_kinds, knots=2)
    for world in range(6):
        changed = world in (1, 4)
        wanted = groups_of(other, other_kinds, world) if changed else groups_of(given, kinds, world)
        assert arrays_of(after, world) == wanted
        assert arrays_of(before, world) == groups_of(given, kinds, world)  # what was handed out stays as it was
        if not changed:
            mine, now = slice(*before.first[world : world + 2]), slice(*after.first[world : world + 2])
            np.testing.assert_array_equal(before.buffer[mine], after.buffer[now])


def test_transforms_lie_in_the_world_s_memory_one_behind_the_other():
    rng = np.random.default_rng(5)
    given, kinds = scattered(rng, 3, 25, 5)
    arrays = WorldArrays(3, 25)
    tables = made(arrays, np.arange(3), given, kinds, knots=4)
    for world in range(3):
        memory, end = arrays._memory[world], arrays._memory[world].ctypes.data
        for number, a in enumerate(range(tables.first[world], tables.first[world + 1])):
            assert tables.buffer[a] == end
            end += arrays.transforms(world, number).nbytes
        present = sum(len(columns) for _, _, columns in arrays_of(tables, world))
        assert end + 4 * present <= memory.ctypes.data + memory.nbytes  # indices of the items come after them


def test_memory_is_taken_anew_only_where_a_world_has_outgrown_it():
    on_no_body, bits, none = np.full(9, -1, np.int32), np.zeros((3, 9), np.int64), np.zeros((2, 9), np.uint8)
    many = Objects(np.zeros((2, 9), np.int32), on_no_body, bits, none)
    few = many._replace(mesh_index=np.where(np.arange(9) < 3, 0, -1)[None].repeat(2, 0).astype(np.int32))
    kinds, arrays = np.zeros((2, 0), np.uint8), WorldArrays(2, 9)
    arrays.make(np.arange(2), few, kinds, knots=1)
    small = list(arrays._memory)
    arrays.make(np.array([0]), many, kinds, knots=1)
    assert arrays._memory[0] is not small[0]
    assert arrays._memory[1] is small[1]
    large = arrays._memory[0]
    arrays.make(np.array([0]), few, kinds, knots=1)
    arrays.make(np.array([0]), many, kinds, knots=1)
    assert arrays._memory[0] is large


def boxes(worlds):
    """Scenes of a batch, each world with its box elsewhere."""
    pose = sn.Pose(np.stack([np.arange(worlds) + 5.0, np.zeros(worlds), np.zeros(worlds)], axis=-1)[:, None])
    return sn.SceneBatch([sn.shapes.box(1, 1, 1)], np.zeros((worlds, 1), np.int32), pose)


def test_who_draws_makes_no_scenes_and_who_traces_makes_those_that_are_missing():
    placed = PlacedScenes(layout(boxes(3), 3), 3, ())
    placed.begin_instant(np.empty((3, 3)))
    assert not placed.arrays.scene.any()
    drawn = placed.tables
    poses = np.zeros((1, 3, 0, 3)), np.zeros((1, 3, 0, 4))
    placed.place(*poses, np.zeros((3, 3)))
    scenes = placed.arrays.scene.copy()
    assert scenes.all()
    np.testing.assert_array_equal(placed.tables.scene, scenes)
    np.testing.assert_array_equal(placed.tables.buffer, drawn.buffer)

    # Worlds that are drawn anew have no scene until somebody traces; the others keep theirs
    placed.redraw(placed.layout, np.array([False, True, False]))
    placed.begin_instant(np.empty((3, 3)))
    assert placed.arrays.scene.tolist() == [scenes[0], 0, scenes[2]]
    placed.place(*poses, np.zeros((3, 3)))
    assert placed.arrays.scene.all()
    assert placed.arrays.scene[[0, 2]].tolist() == scenes[[0, 2]].tolist()


def drones(outputs_by_lens, seed=2):
    """Cameras over worlds whose things are other ones after each reset."""
    ground = sn.Scene()
    ground.add(sn.shapes.plane(60.0), label="ground")
    kinds = [sn.SceneObject(sn.shapes.box(1, 1, 3), label="crate"), sn.SceneObject(sn.shapes.sphere(1.0), label="ball")]
    things = sn.Scatter(kinds, (5, 9), low=(2, -8, 0), high=(15, 8, 1))
    scene = sn.SceneBatch.scattered([things], worlds=5, seed=seed, shared=ground)
    drone = sn.paths.Circle(center=(0, 0, 1.5), radius=0.5, rate=1.0)
    env = sn.Environment(scene, sn.worlds.Kinematic({"drone": drone}, step_s=0.1), worlds=5)
    for name, distortion in outputs_by_lens.items():
        pattern = sn.patterns.Pinhole.from_fov(32, 32, 80.0, rate_hz=10.0).model_copy(update={"distortion": distortion})
        env.attach(sn.DepthCamera(pattern=pattern, outputs={"depth", "segmentation"}), body="drone", name=name)
    return env


def test_drawn_and_traced_cameras_share_worlds_that_change():
    drawn, traced = (0.0,) * 5, (1e-12, 0.0, 0.0, 0.0, 0.0)
    both, alone = drones({"drawn": drawn, "traced": traced}), drones({"drawn": drawn})
    rng = np.random.default_rng(0)
    for step in range(12):
        both.step(), alone.step()
        a, b = both.sensors["drawn"].read(), both.sensors["traced"].read()
        np.testing.assert_array_equal(a.depth_m, alone.sensors["drawn"].read().depth_m)
        np.testing.assert_array_equal(a.segmentation, alone.sensors["drawn"].read().segmentation)
        same = a.segmentation == b.segmentation
        assert same.mean() > 0.99
        np.testing.assert_allclose(a.depth_m[same], b.depth_m[same], rtol=1e-4)
        if step % 3 == 2:
            mask = rng.uniform(size=5) < 0.5
            both.reset(mask), alone.reset(mask)
    assert not alone._tracer.instants.arrays.scene.any()  # nobody traced there
    assert both._tracer.instants.arrays.scene.all()
