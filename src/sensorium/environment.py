"""The environment: a scene, a world that moves, and the sensors that look at them, stepped together."""

import os
import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from inspect import signature
from types import MappingProxyType
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.clock import ns_to_seconds
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.corruption import TimingErrors
from sensorium.pacing import RunClock
from sensorium.physics.fields import AbstractGravity, AbstractMagnetic, Sun, UniformGravity
from sensorium.physics.media import AbstractMedium, vacuum
from sensorium.runtime.interrupts import Uninterrupted
from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import redrawn, slot_poses
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.scene.scene import Scene
from sensorium.scene.volumes import index_of
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.spec import Rig, SensorSpec, checked_mounts
from sensorium.stepping import StepObserver, SteppedRun, checked_duration_ns, observed
from sensorium.tracing.scene_backend import scene_backend
from sensorium.tracing.tracer import Tracer
from sensorium.worlds.base import World, WorldState, check_state, slides_of, unread_state_of
from sensorium.worlds.history import History
from sensorium.worlds.mujoco.world import MuJoCo
from sensorium.worlds.static import Static

R = TypeVar("R")


class Environment:
    """Joins a scene and a world, and carries the sensors.

    `step()` moves the world on and lets the sensors measure; `observe()` only measures, for a loop that moves the world
    itself; `run()` steps for a while.

    >>> scene = sn.Scene()
    >>> wall = scene.add(sn.shapes.box(1, 20, 20), pose=sn.Pose((10.5, 0, 0)), label="wall")
    >>> world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(2, 0, 0))}, step_s=0.1)
    >>> env = sn.Environment(scene, world)
    >>> ray = sn.patterns.Table(azimuth_deg=(0,), elevation_deg=(0,), time_s=(0,), rate_hz=10)
    >>> lidar = env.attach(sn.Lidar(pattern=ray), body="car")
    >>> for _ in env.run(duration_s=1.0):
    ...     scan = lidar.read()
    >>> round(env.time_s, 3), round(float(scan.range_m.item()), 3)  # the last ray was fired at 0.9 s
    (1.0, 8.2)
    """

    def __init__(
        self,
        scene: Scene | SceneBatch | SceneInParts,
        world: World | None = None,
        *,
        atmosphere: AbstractMedium | None = None,
        sun: Sun | None = None,
        gravity: AbstractGravity | None = None,
        magnetic: AbstractMagnetic | None = None,
        worlds: int | None = None,
        first_world: int = 0,
        seed: int = 0,
    ) -> None:
        """Join scene and world.

        Args:
            scene: What there is to see; its objects are those it has now. A `SceneInParts` is seen by lidars only,
                through processes of a cluster, which end with `close`.
            world: What moves; by default nothing does.
            atmosphere: The air; by default clear, without any loss.
            sun: Sunlight; by default it is night.
            gravity: Gravity, where the world does not apply one of its own, as physics engines do; by default standard
                gravity along -z.
            magnetic: The magnetic field; by default there is none.
            worlds: How many worlds run side by side; readings then have a leading axis of worlds. None is one world
                without that axis (or as many as a SceneBatch has, with it).
            first_world: Number of the first world among all worlds of an experiment: 8 worlds give what 8 environments
                of one world with first_world 0 to 7 give.
            seed: Seed of all random numbers.
        """
        if isinstance(scene, SceneBatch) and worlds is None:
            worlds = scene.worlds
        if worlds is not None and (not isinstance(worlds, int) or isinstance(worlds, bool) or worlds < 1):
            raise SpecError(f"worlds is {worlds!r}; it must be None or a whole number of at least 1")
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
            raise SpecError(f"seed is {seed!r}; it must be a whole number")
        if first_world < 0:
            raise SpecError(f"first_world is {first_world}; it must be zero or more")
        self.scene = scene
        self.world: World = Static() if world is None else world
        lacks = [name for name in ("start", "step", "state", "reset", "body_names") if not hasattr(self.world, name)]
        if lacks:
            raise SpecError(f"world is a {type(world).__name__} without {', '.join(lacks)}; it must be a world")
        self.seed = seed
        self.atmosphere: AbstractMedium = vacuum() if atmosphere is None else atmosphere
        if not isinstance(self.atmosphere, AbstractMedium):
            raise SpecError(f"atmosphere is a {type(atmosphere).__name__}; it must be a medium of sn.media")
        self.sun = sun
        if sun is not None and not isinstance(sun, Sun):
            raise SpecError(f"sun is a {type(sun).__name__}; it must be a sn.fields.Sun")
        self.gravity: AbstractGravity = UniformGravity() if gravity is None else gravity
        if not isinstance(self.gravity, AbstractGravity):
            raise SpecError(f"gravity is a {type(gravity).__name__}; it must be a gravity field of sn.fields")
        self.magnetic = magnetic
        if magnetic is not None and not isinstance(magnetic, AbstractMagnetic):
            raise SpecError(f"magnetic is a {type(magnetic).__name__}; it must be a magnetic field of sn.fields")
        self._world_axis = worlds is not None
        self._first_world = first_world
        self._sensors: dict[str, AttachedSensor[Any]] = {}
        self._beside: WeakValueDictionary[str, AttachedSensor[Any]] = WeakValueDictionary()  # they may interfere

        # The world begins; what it is like now is the first entry of the history
        count = 1 if worlds is None else worlds
        self.world.start(count)
        self._unread_state = unread_state_of(self.world)
        self._history = History(self._checked(self.world.state()), worlds=count)
        self._step_from_ns = self._history.newest.time_ns
        self._scene_backend = scene_backend(
            scene, count, self.world.body_names, self._history, around_index=index_of(self.atmosphere)
        )
        self._episode = np.zeros(count, np.int64)
        self._started_s: float | None = None
        self._run_from_ns = 0

    @classmethod
    def from_mujoco(cls, model: Any, data: Any = None, **options: Any) -> Self:
        """An environment of a MuJoCo model: its geoms to see, its bodies to ride on, its gravity.

        To add to the scene, take the two steps by themselves: `world = sn.worlds.MuJoCo(path)`, `world.scene()`.

        Args:
            model: `mujoco.MjModel`; or the path of an MJCF or URDF file; or MJCF text.
            data: Data to simulate or to watch, as for `sn.worlds.MuJoCo`.
            options: All else, by name, that `sn.worlds.MuJoCo` takes (controller, keyframe, accelerations, folder,
                packages), its `scene` (groups, sag_m, infinite_m, materials, plane_backs), or an environment, such as
                atmosphere, worlds and seed.
        """
        of_world, of_scene = (
            {name: options.pop(name) for name in signature(function).parameters if name in options}
            for function in (MuJoCo, MuJoCo.scene)
        )
        world = MuJoCo(model, data, **of_world)
        return cls(world.scene(**of_scene), world, **options)

    def __repr__(self) -> str:
        worlds = self._history.worlds
        count = f"{worlds} world{'s' if worlds > 1 else ''}"
        sensors = ", ".join(self._sensors) or "no sensors"
        return f"Environment({count}, {type(self.world).__name__}, {sensors}, at {self.time_s:g} s)"

    @property
    def first_world(self) -> int:
        """Number of the first world among all worlds of an experiment."""
        return self._first_world

    @property
    def worlds(self) -> int:
        """Number of worlds that run side by side, 1 where none was given."""
        return self._history.worlds

    @property
    def world_axis(self) -> bool:
        """Whether readings have a leading axis of worlds."""
        return self._world_axis

    # --- sensors ----------------------------------------------------------------------------------------------------

    @property
    def sensors(self) -> MappingProxyType[str, AttachedSensor[Any]]:
        """The attached sensors by name."""
        return MappingProxyType(self._sensors)

    def attach(
        self,
        sensor: SensorSpec[R],
        *,
        body: str | None = None,
        joint: str | None = None,
        pose: Pose | Sequence[Pose] | None = None,
        name: str | None = None,
        hide: Sequence[str] = (),
    ) -> AttachedSensor[R]:
        """Put a sensor on a body.

        Args:
            sensor: Its specification; a copy is kept, so later edits change nothing.
            body: Body it rides on; None fixes it in the world.
            joint: Joint it measures, for encoders and odometers.
            pose: X_BS, its pose on the body. A sequence of poses, or a pose with one batch axis, makes several sensors
                of a kind, and readings get an axis for them after that of the worlds.
            name: Its name, which also keys its randomness; by default the kind of sensor.
            hide: Bodies it does not see, such as its own.

        Returns:
            The live sensor.
        """
        if not isinstance(sensor, SensorSpec):
            given = f"the class {sensor.__name__}" if isinstance(sensor, type) else f"a {type(sensor).__name__}"
            raise SpecError(f"sensor is {given}; it must be a sensor's specification, such as sn.Lidar(pattern=...)")
        name = getattr(sensor, "kind", type(sensor).__name__.lower()) if name is None else name
        if not isinstance(name, str) or not name:
            raise SpecError(f"name is {name!r}; it must be a string that is not empty")
        if name in self._sensors:
            raise SpecError(f"a sensor is named {name!r} already; pass name= to tell them apart")
        body_index = None if body is None else _index("body", body, self.world.body_names)
        X_BS = checked_mounts(pose)
        if isinstance(hide, str):
            raise SpecError(f"hide is the string {hide!r}; it must be a sequence of body names")
        for hidden in hide:
            _index("body", hidden, self.world.body_names)
        self._scene_backend.register_hidden(hide)
        rig = Rig(
            name=name,
            seed=self.seed,
            history=self._history,
            scene_backend=self._scene_backend,
            body=body_index,
            joint=None if joint is None else _index("joint", joint, self.world.joint_names),
            X_BS=X_BS.reshape(-1),
            hide=tuple(hide),
            atmosphere=self.atmosphere,
            sun=self.sun,
            gravity=self.gravity,
            magnetic=self.magnetic,
            timing=TimingErrors(),
            faults=None,
            first_world=self._first_world,
            world_axis=self._world_axis,
            sensor_axis=len(X_BS.shape) == 1,
            joint_slides=joint in slides_of(self.world),
            attached_sensors=self._beside,
        )
        self._history.be_read()
        attached = AttachedSensor(sensor, rig)
        self._sensors[name] = self._beside[name] = attached
        return attached

    # --- time -------------------------------------------------------------------------------------------------------

    @property
    def time_ns(self) -> int:
        """Time of the last state seen [ns]."""
        return self._history.newest.time_ns

    @property
    def time_s(self) -> float:
        """Time of the last state seen [s]."""
        return ns_to_seconds(self.time_ns)

    @property
    def step_from_ns(self) -> int:
        """When the last step began [ns]: the time of the state before the last one seen."""
        return self._step_from_ns

    @property
    def state(self) -> WorldState:
        """The last state seen, of all bodies and joints in all worlds."""
        return self._history.newest

    def step(self) -> None:
        """Move the world on by one step, then let the sensors measure. Ctrl-C waits for its end."""
        with Uninterrupted():
            self.world.step()
            self._ingest(self._checked(self.world.state() if self._sensors else self._unread_state()))

    def observe(self, time_ns: int | None = None) -> None:
        """Let the sensors measure a world that the caller has moved; the world is not stepped.

        Args:
            time_ns: Time of the world's state now [ns]; None takes the world's own clock.
        """
        with Uninterrupted():
            state = self.world.state()
            if time_ns is not None and isinstance(state, WorldState):
                state = replace(state, time_ns=time_ns)
            self._ingest(self._checked(state))

    def run(
        self,
        duration_s: float,
        *,
        realtime: bool | float | RunClock = False,
        view: bool | str | os.PathLike[str] | StepObserver = False,
        live: Sequence[Any] = (),
    ) -> SteppedRun:
        """Step for a while; the loop body runs after each step.

        Arguments are checked at once; the run begins with the first turn of the loop, or with `finish()` of what is
        returned where there is nothing to do after a step. A run that is dropped without either warns.

        Args:
            duration_s: How long in simulated time [s]; the steps begun before that time.
            realtime: Wait after a step until the wall clock has caught up, at real time or at a multiple of it;
                `real_time_factor` tells whether it could. A `sn.live.RunClock` can also pause the run.
            view: Whether to show the run in Rerun while it goes on (extra `view`). The path of an .rrd file
                writes there what would be shown; any other `StepObserver` is given each step, and closed at the end.
            live: Sinks that send each step to other programs: names such as "foxglove", or what `sn.live.open_sink`
                returns. They are opened with the first turn of the loop.
        """
        duration_ns = checked_duration_ns(duration_s)
        steps = observed(self, self._steps(duration_ns), realtime=realtime, view=view, live=live)
        return SteppedRun(steps, f"Environment.run(duration_s={duration_s:g})")

    def _steps(self, duration_ns: int) -> Generator[None]:
        self._run_from_ns, self._started_s = self.time_ns, time.perf_counter()
        end_ns = self.time_ns + duration_ns
        while self.time_ns < end_ns:
            self.step()
            yield

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall-clock time since the last `run` began; 0 before."""
        if self._started_s is None:
            return 0.0
        return ns_to_seconds(self.time_ns - self._run_from_ns) / max(time.perf_counter() - self._started_s, 1e-9)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Restart some worlds, or all; time goes on.

        Rays of a sweep under way that were fired before the reset are void in those worlds. Where the scene is a batch
        that can be redrawn, as `SceneBatch.scattered` is, those worlds are redrawn, and `scene` is the new batch.

        Args:
            mask: Worlds to restart, bool, shape (worlds,).
        """
        worlds = self._history.worlds
        chosen: NDArray[np.bool_] = np.ones(worlds, np.bool_) if mask is None else np.asarray(mask)
        if chosen.shape != (worlds,) or chosen.dtype != np.bool_:
            raise SpecError(f"mask is {chosen.dtype} of shape {chosen.shape}; it must be bool of shape ({worlds},)")
        with Uninterrupted():
            # What can fail comes first: there may be no room for the objects of a redrawn world
            rows = np.flatnonzero(chosen)
            redrawn_scenes = self._redraw_scenes(rows)
            self.world.reset(chosen)
            self._history.restart(chosen, self._checked(self.world.state()))
            if redrawn_scenes is not None:
                self._apply_redraw(redrawn_scenes, rows, chosen)
            self._scene_backend.forget_placement()
            for sensor in self._sensors.values():
                sensor.reset(chosen)

    def close(self) -> None:
        """End the processes that cast for a scene in parts; nothing to do for other scenes."""
        self._scene_backend.close()

    # --- inside -----------------------------------------------------------------------------------------------------

    @property
    def _tracer(self) -> Tracer:
        """The scene in memory, for benchmarks of tracing."""
        assert isinstance(self._scene_backend, Tracer)
        return self._scene_backend

    def _redraw_scenes(self, rows: NDArray[np.int64]) -> SceneBatch | None:
        """New scenes for some worlds; None where the scene is not redrawn at a reset."""
        if not isinstance(self.scene, SceneBatch) or self.scene.redraw is None or not len(rows):
            return None
        return self.scene.redrawn(rows, self._first_world + rows, self._episode[rows] + 1)

    def _apply_redraw(self, scenes: SceneBatch, rows: NDArray[np.int64], chosen: NDArray[np.bool_]) -> None:
        """Replace the scenes of some worlds."""
        assert isinstance(self.scene, SceneBatch)
        new_layout = redrawn(self._tracer.layout, scenes, rows)
        scene = self.scene.with_rows(rows, scenes, slot_poses(new_layout, scenes))
        self._tracer.redraw(new_layout, chosen)
        self.scene = scene
        self._episode[rows] += 1

    def _ingest(self, state: WorldState) -> None:
        """Add a checked state to the history, let every sensor measure, and forget states that none needs any more."""
        history, sensors = self._history, self._sensors
        before_ns = history.newest.time_ns
        history.add(state, read=bool(sensors))
        self._step_from_ns = before_ns
        now_ns = needed_ns = state.time_ns
        for sensor in sensors.values():
            sensor_needs_ns = sensor.advance(before_ns, now_ns)
            if sensor_needs_ns < needed_ns:
                needed_ns = sensor_needs_ns
        history.forget_before(needed_ns)

    def _checked(self, state: WorldState) -> WorldState:
        check_state(state, self.world.body_names, self.world.joint_names)
        return state


def _index(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise SpecError(f"the world has no {kind} {name!r}; it has {', '.join(names) or 'none'}")
    return names.index(name)
