import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.scene.layout import layout
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.tracer import Tracer
from sensorium.worlds.history import History

MS = 1_000_000
NEAR = np.zeros((1, 3))


def running(bodies=("car",), steps=10):
    """A tracer over a world that has run for 100 ms."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(100.0))
    for i, body in enumerate(bodies):
        scene.add(sn.shapes.box(1, 1, 1), body=body, pose=sn.Pose((0, 2.0 * i, 0)))
    world = sn.worlds.Kinematic({body: sn.paths.Line(start=(0, 0, 5), velocity=(10, 0, 0)) for body in bodies})
    world.start(1)
    history = History(world.state())
    for _ in range(steps):
        world.step()
        history.add(world.state())
    return Tracer(layout(scene, 1), 1, world.body_names, history), world, history


@pytest.fixture
def placements(monkeypatch):
    """Counts how often scenes are placed."""
    calls = []
    place = PlacedScenes.place_around
    monkeypatch.setattr(
        PlacedScenes, "place_around", lambda self, *a, **b: (calls.append(self), place(self, *a, **b))[1]
    )
    return calls


def test_the_same_question_is_answered_without_placing_again(placements):
    tracer, _, _ = running()
    first = tracer.place(0, 100 * MS, NEAR)
    assert tracer.place(0, 100 * MS, NEAR) is first
    assert tracer.place(0, 100 * MS, NEAR + 20.0) is first  # in the same cell of the anchors' grid
    assert len(placements) == 1


@pytest.mark.parametrize("change", [{"start_ns": 10 * MS}, {"end_ns": 90 * MS}, {"near": NEAR + 50.0}])
def test_another_question_places_anew(placements, change):
    tracer, _, _ = running()
    question = {"start_ns": 0, "end_ns": 100 * MS, "near": NEAR}
    first = tracer.place(**question)
    assert tracer.place(**{**question, **change}) is first
    assert len(placements) == 2
    tracer.place(**question)
    assert len(placements) == 3


def test_instants_and_intervals_do_not_undo_each_other(placements):
    tracer, _, _ = running()
    for _ in range(5):
        moving, standing = tracer.place(0, 100 * MS, NEAR), tracer.place(50 * MS, 50 * MS, NEAR)
        assert moving is not standing
    assert len(placements) == 2


def test_after_a_reset_it_places_anew(placements):
    tracer, world, history = running()
    tracer.place(0, 100 * MS, NEAR)
    world.reset(np.array([True]))
    history.restart(np.array([True]), world.state())
    tracer.forget_placement()
    scenes = tracer.place(0, 100 * MS, NEAR)
    assert len(placements) == 2
    # the body stands where it restarted
    np.testing.assert_allclose(scenes.arrays.transforms(0, 1)[..., 3], 0.0, atol=1e-6)


def test_bodies_are_where_the_history_has_them():
    tracer, _, history = running()
    scenes = tracer.place(33 * MS, 33 * MS, NEAR)
    (transform,) = scenes.arrays.transforms(0, 1)[0]
    expected = history.poses(np.array([33 * MS])).position[0, 0, 0]
    np.testing.assert_allclose(transform.reshape(3, 4)[:, 3], expected, atol=1e-6)
    scenes = tracer.place(20 * MS, 80 * MS, NEAR)
    moves = scenes.arrays.transforms(0, 1)[:, 0].reshape(-1, 3, 4)[:, :, 3]
    np.testing.assert_allclose(moves[[0, -1], 0], [0.2, 0.8], atol=1e-6)


def test_hiding_gives_a_body_a_bit_of_its_own(placements):
    tracer, _, _ = running(("car", "cat"))
    plain = tracer.place(0, 100 * MS, NEAR)
    assert not plain.can_hide(frozenset({"cat"}))
    tracer.register_hidden(("cat",))
    scenes = tracer.place(0, 100 * MS, NEAR)
    assert scenes.can_hide(frozenset({"cat"}))
    assert len(placements) == 2
    tracer.register_hidden(("cat",))  # known already: nothing to do
    assert tracer.place(0, 100 * MS, NEAR) is scenes
    assert len(placements) == 2


def test_a_refused_hide_changes_nothing():
    bodies = tuple(f"b{i:02d}" for i in range(33))
    tracer, _, _ = running(bodies)
    for body in bodies[:28]:
        tracer.register_hidden((body,))
    with pytest.raises(SpecError, match="at most 28"):
        tracer.register_hidden(bodies[28:29])
    assert tracer.place(0, 100 * MS, NEAR).can_hide(frozenset(bodies[:1]))


def test_a_body_the_world_lacks_is_an_error_at_once():
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="ghost")
    world = sn.worlds.Static()
    world.start(1)
    with pytest.raises(SpecError, match="'ghost'"):
        Tracer(layout(scene, 1), 1, world.body_names, History(world.state()))
