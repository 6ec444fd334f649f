"""Depth cameras of a thousand worlds, against the bare trace of the same rays into the same scenes."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

import numpy as np

import sensorium as sn
from sensorium.corruption import Fault, FaultSchedule
from sensorium.qa.benchmarks.bare import bare_trace, packed
from sensorium.qa.benchmarks.timing import cpu_ratio, ratio, seconds, thread_count
from sensorium.runtime import worker_pool
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.depth_camera.errors import AnyDepthError
from sensorium.sensors.depth_camera.rays import in_tiles
from sensorium.tracing.embree.packet import ALL_OBJECTS, BLOCK, COHERENT_ADDRESS
from sensorium.tracing.placement.scenes import PlacedScenes

WORLDS, SIDE, OBSTACLES = 1024, 64, 20

_RATE_HZ = 20.0
_STEPS_NOT_TIMED, _STEPS_IN_A_ROW, _MOST_RIGS = 4, 8, 64
_PLACEMENT = sn.Placement(
    min_translation_m=(-0.05, -0.05, -0.02),
    max_translation_m=(0.05, 0.05, 0.02),
    min_rotation_deg=(-5.0, -5.0, -5.0),
    max_rotation_deg=(5.0, 5.0, 5.0),
)

Distortion = tuple[float, float, float, float, float]

# Only lenses that do not bend are drawn; the second bends by less than rounding
DRAWN: Distortion = (0.0, 0.0, 0.0, 0.0, 0.0)
TRACED: Distortion = (1e-12, 0.0, 0.0, 0.0, 0.0)

Column = np.ndarray[tuple[int], np.dtype[np.float64]]


class Rig(NamedTuple):
    """Drones that circle among obstacles, all of which move, one image a step."""

    env: sn.Environment
    camera: AttachedSensor[sn.DepthImage]
    pattern: sn.patterns.Pinhole

    def step(self) -> None:
        """One step of all worlds, and the image at its end."""
        self.env.step()

    def reset_some(self) -> None:
        """Restart every tenth world."""
        self.env.reset(np.arange(self.env.state.X_WB.shape[0]) % 10 == 0)


def rig(
    worlds: int = WORLDS,
    *,
    different: int | None = None,
    first: int = 0,
    randomize: sn.Randomization | None = None,
    side: int = SIDE,
    errors: Sequence[AnyDepthError] = (),
    faults: Sequence[Fault] = (),
    lens: Distortion = DRAWN,
) -> Rig:
    """Depth and labels of 20 obstacles of four kinds in a walled yard, each world with places and ways of its own.

    Args:
        worlds: How many.
        different: Number of different worlds, which then repeat; None for all different.
        first: Which of these comes first.
        randomize: Of the cameras.
        side: Of an image [px].
        errors: Of the cameras.
        faults: Of the cameras.
        lens: DRAWN, or TRACED.
    """
    rng = np.random.default_rng(1)

    def places(low: float, high: float) -> Column:
        return np.take(rng.uniform(low, high, different or worlds), np.arange(first, first + worlds), mode="wrap")

    scene = sn.Scene()
    scene.add(sn.shapes.plane(40.0, 40.0), label="ground")
    for x, y, size in ((20, 0, (0.2, 40, 5)), (-20, 0, (0.2, 40, 5)), (0, 20, (40, 0.2, 5)), (0, -20, (40, 0.2, 5))):
        scene.add(sn.shapes.box(*size), pose=sn.Pose(position=(x, y, 2.5)), label="wall")
    kinds = [
        ("ball", sn.shapes.sphere(0.6, subdivisions=3)),
        ("trunk", sn.shapes.cylinder(0.3, 4.0)),
        ("crate", sn.shapes.box(1.0, 1.0, 1.0)),
        ("post", sn.shapes.capsule(0.25, 2.0)),
    ]
    moving: dict[str, sn.paths.Path] = {
        "drone": sn.paths.Circle(
            center=np.stack([places(-5, 5), places(-5, 5), places(1, 2)], axis=-1),
            radius=3.0,
            rate=0.3,
        )
    }
    for number in range(OBSTACLES):
        label, mesh = kinds[number % len(kinds)]
        scene.add(mesh, body=f"obstacle{number}", label=label)
        center = np.stack([places(-18, 18), places(-18, 18), places(0.5, 2.0)], axis=-1)
        moving[f"obstacle{number}"] = sn.paths.Circle(center=center, radius=1.0, rate=0.5)
    env = sn.Environment(scene, sn.worlds.Kinematic(moving, step_s=1.0 / _RATE_HZ), worlds=worlds)
    pattern = _seen_through(lens, side, side)
    camera = sn.DepthCamera(
        pattern=pattern,
        outputs={"depth", "segmentation"},
        max_range_m=50.0,
        min_range_m=0.1,
        randomize=randomize,
        errors=tuple(errors),
        faults=FaultSchedule(faults=tuple(faults)),
    )
    made = Rig(env, env.attach(camera, body="drone"), pattern)
    made.step()
    return made


class Cost(NamedTuple):
    """Cost of a step per world, for several numbers of worlds: the best of some rounds, and median ratios."""

    microseconds: float
    relative: float
    """As a multiple of the cost with the most worlds."""


class BareImages:
    """The bare trace of the rays of a rig's last images, in scenes of its own with the same objects and poses."""

    def __init__(self, of: Rig) -> None:
        image = of.camera.read()
        X_WS = image.X_WS[0][:, 0]
        tracer = of.env._tracer
        placed = PlacedScenes(tracer.layout, tracer.worlds, tracer.body_names)
        placed.place(*tracer.history.motion(np.array([image.start_ns])), X_WS.position)
        directions = of.pattern.rays().direction_S.reshape(-1, 3)[in_tiles(of.pattern.width, of.pattern.height)]
        self._placed = placed  # keeps its scenes
        turned = X_WS[:, None].rotate(directions)
        origins = np.broadcast_to((X_WS.position - placed.anchor)[:, None], turned.shape)
        self._rays = packed(origins.astype(np.float32), turned.astype(np.float32))
        self._time = np.zeros(len(directions), np.float32)
        self.range_m = np.zeros(turned.shape[:2], np.float32)
        self._face = np.zeros(turned.shape[:2], np.uint32)

    def __call__(self) -> None:
        """Trace."""
        worker_pool.share(
            bare_trace,
            len(self.range_m) * -(-len(self._time) // BLOCK),
            self._placed.tables.scene,
            self._rays,
            self._time,
            ALL_OBJECTS,
            COHERENT_ADDRESS,
            self.range_m,
            self._face,
        )


def against_bare_trace(worlds: int = WORLDS, *, rounds: int = 15) -> float:
    """Rate of whole steps, with all that moves, over that of the bare trace of one step's rays, all threads."""
    subject = rig(worlds)
    return ratio(subject.step, BareImages(subject), rounds=rounds)


def cost_of_random_placement(worlds: int = WORLDS, *, rounds: int = 15) -> float:
    """Added cost of a placement drawn at every step, as a share of a step, in CPU time of one thread.

    The other cameras are placed as much at random, but once, so that both look at the same kind of images.
    """
    every, once = (rig(worlds, randomize=sn.Randomization(when=w, placement=_PLACEMENT)) for w in ("step", "reset"))
    return 1.0 / cpu_ratio(every.step, once.step, rounds=rounds) - 1.0


def cost_of_reset(worlds: int = WORLDS, *, rounds: int = 15) -> float:
    """Cost of a reset of every tenth world, its redrawn placements included, as a share of a step."""
    subject = rig(worlds, randomize=sn.Randomization(when="reset", placement=_PLACEMENT))
    subject.reset_some(), subject.step()
    shares = []
    for _ in range(rounds):
        plain = seconds(subject.step)
        reset = seconds(subject.reset_some)
        after = seconds(subject.step)
        shares.append((reset + max(after - plain, 0.0)) / plain)
    return float(np.median(shares))


class Crowd(NamedTuple):
    """Balls on a ground around the camera, and the size of its image."""

    balls: int
    subdivisions: int  # each has 20 x 4^subdivisions triangles
    width: int  # [px]
    height: int


def drawn_over_traced(crowd: Crowd, *, worlds: int = 8, rounds: int = 12) -> float:
    """Rate of whole steps with rasterized images over that with the same images traced, in CPU time of one thread."""
    drawn, traced = (_crowded(crowd, worlds, lens) for lens in (DRAWN, TRACED))
    return cpu_ratio(drawn.step, traced.step, rounds=rounds)


def _crowded(crowd: Crowd, worlds: int, lens: Distortion) -> sn.Environment:
    """Worlds with a crowd each, seen by a camera that circles among them."""
    rng, scene = np.random.default_rng(0), sn.Scene()
    scene.add(sn.shapes.plane(100.0), label="ground")
    ball = sn.shapes.sphere(1.0, subdivisions=crowd.subdivisions)
    for x, y in rng.uniform(-30.0, 30.0, (crowd.balls, 2)):
        away = 5.0 if np.hypot(x, y) < 3.0 else 0.0
        scene.add(ball, pose=sn.Pose(position=(x + away, y + away, 1.5)), label="ball")
    circle = sn.paths.Circle(center=(0.0, 0.0, 1.5), radius=1.0, rate=0.3)
    env = sn.Environment(scene, sn.worlds.Kinematic({"drone": circle}, step_s=1.0 / _RATE_HZ), worlds=worlds)
    pattern = _seen_through(lens, crowd.width, crowd.height)
    env.attach(sn.DepthCamera(pattern=pattern, outputs={"depth", "segmentation"}, max_range_m=60.0), body="drone")
    env.step()
    return env


def _seen_through(lens: Distortion, width: int, height: int) -> sn.patterns.Pinhole:
    """The pattern of the cameras."""
    straight = sn.patterns.Pinhole.from_fov(width, height, 87.0, rate_hz=_RATE_HZ)
    return straight.model_copy(update={"distortion": lens})


def two_threads_over_one(*, bare: bool = False, rounds: int = 31, side: int = SIDE) -> float:
    """Rate of a single world on two threads over that on one, of whole steps or of the bare trace.

    Each has a world of its own, since an image is cut into pieces only where there are threads for them.
    """

    def on(count: int) -> Callable[[], None]:
        with thread_count(count):
            subject = rig(1, side=side)
            call: Callable[[], None] = BareImages(subject) if bare else subject.step

        def some() -> None:
            with thread_count(count):
                _repeat(call, _STEPS_IN_A_ROW)

        return some

    return ratio(on(2), on(1), rounds=rounds)


def cost_a_world(counts: tuple[int, ...], *, different: int = WORLDS, rounds: int = 9) -> dict[int, Cost]:
    """Cost of a step per world, for different numbers of worlds.

    Each number of worlds sees the same different worlds, in as many environments as that takes, up to a limit. In each
    round all environments of all numbers take as many steps in a row, the first ones not timed, so that all have drawn
    the same images of the same moving objects; each number is compared with the largest.
    """
    rigs = {
        count: [
            rig(count, different=different, first=count * number)
            for number in range(min(max(1, different // count), _MOST_RIGS))
        ]
        for count in counts
    }
    most, times = max(counts), []
    for _ in range(rounds):
        taken = {}
        for count, subjects in rigs.items():
            total = 0.0
            for subject in subjects:
                _repeat(subject.step, _STEPS_NOT_TIMED)
                total += seconds(partial(_repeat, subject.step, _STEPS_IN_A_ROW))
            taken[count] = total / (_STEPS_IN_A_ROW * count * len(subjects))
        times.append(taken)
    return {
        count: Cost(
            microseconds=1e6 * min(taken[count] for taken in times),
            relative=median(taken[count] / taken[most] for taken in times),
        )
        for count in counts
    }


def _repeat(call: Callable[[], None], times: int) -> None:
    for _ in range(times):
        call()
