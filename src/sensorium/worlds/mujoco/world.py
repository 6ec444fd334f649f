"""A world simulated by MuJoCo."""

import math
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError, WorldError
from sensorium.physics.materials import AbstractMaterial
from sensorium.scene.scene import Scene
from sensorium.worlds.base import WorldState, checked_mask, checked_worlds, started
from sensorium.worlds.mujoco.files import engine, load_model, urdf_text
from sensorium.worlds.mujoco.later import Engine, LaterState, is_moderate
from sensorium.worlds.mujoco.motion import places_of, read_state
from sensorium.worlds.mujoco.scene import SHOWN_GROUPS, Mount, model_scene, names_of, site_mount
from sensorium.worlds.state_layout import StateLayout

# a timestep this near to whole nanoseconds is rounded, since 0.002 is no binary fraction
_WHOLE_NS = 1e-6

Controller = Callable[[Any, Any, int], None]


class MuJoCo:
    """Bodies and joints of a MuJoCo model, stepped here or observed while the user's loop steps them.

    `env.step()` calls the controller and `mj_step` in each world, one after the other. In a loop of your own, step your
    `MjData` and call `env.observe()`.

    After `mj_step` MuJoCo's own `xpos`, `cvel`, `sensordata` and so on belong to the step's beginning, one timestep
    before `qpos`. Here a state belongs to one time: it is computed on a copy, from the present positions, velocities,
    controls and forces, and the simulation itself stays unchanged, to the last bit. Without sensors the computation is
    deferred until `env.state` is read, and uses the model at that time.

    Bodies are MuJoCo's except its world; joints are its hinges and slides, while ball and free joints show in the
    bodies. Unnamed items are named after their number: `body3`, `joint0`. Mocap bodies jump and have no velocity.

    >>> world = sn.worlds.MuJoCo('''<mujoco><worldbody><body name="ball" pos="0 0 5"><freejoint/>
    ...   <geom type="sphere" size="0.1"/></body></worldbody></mujoco>''')
    >>> env = sn.Environment(world.scene(), world)
    >>> for _ in env.run(duration_s=0.5):
    ...     pass
    >>> env.state.X_WB.position[0, 0, 2].round(1).item()  # 5 m less 9.81 / 2 * 0.5^2
    3.8
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        *,
        controller: Controller | None = None,
        keyframe: str | None = None,
        accelerations: bool = True,
        folder: str | os.PathLike[str] | None = None,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> None:
        """Load a model.

        Args:
            model: `mujoco.MjModel`; or the path of an MJCF or URDF file; or MJCF or URDF text.
            data: `mujoco.MjData` to simulate or to observe, or a sequence of them, one per world; None creates them.
            controller: Called as controller(model, data, world) before each step of each world, to set `data.ctrl`.
            keyframe: Name of the model's keyframe to start from; without it, or with data, as data are.
            accelerations: Whether states have accelerations, for which the dynamics are solved again on first use, with
                the model at that time.
            folder: Folder that all files of the model must lie in; by default the model's own. A model that refers to
                a file outside is refused before the file is opened.
            packages: Of a URDF file, the folder of each package that it names (`package://name/...`). Others are looked
                for upwards from the file, within `folder`.
        """
        mujoco = engine()
        self.model = load_model(model, folder, packages)
        self.urdf = urdf_text(model)
        """Text of the URDF file, as ROS 2 has it on /robot_description; None for MJCF."""
        if data is not None and keyframe is not None:
            raise SpecError(f"keyframe is {keyframe!r} and data is given; data are watched as they are")
        if controller is not None and not callable(controller):
            raise SpecError(f"controller is {controller!r}; it must be a function of (model, data, world)")
        self._given = None if data is None else _checked_data(data, self.model)
        self._controller = controller
        self._keyframe = keyframe
        self._accelerations = bool(accelerations)
        self.step_ns = _timestep_ns(self.model.opt.timestep)

        # Names, and where hinges and slides are among positions and velocities
        self.body_names = names_of("body", [self.model.body(i).name for i in range(self.model.nbody)])[1:]
        names = names_of("joint", [self.model.joint(i).name for i in range(self.model.njnt)])
        hinge, slide = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
        joints = [i for i in range(self.model.njnt) if int(self.model.jnt_type[i]) in (hinge, slide)]
        self.joint_names = tuple(names[i] for i in joints)
        self.slide_joints = tuple(names[i] for i in joints if int(self.model.jnt_type[i]) == slide)
        self._joints_at = np.array([self.model.jnt_qposadr[joints], self.model.jnt_dofadr[joints]], np.int64)
        self._data: tuple[Any, ...] = ()

    @property
    def data(self) -> tuple[Any, ...]:
        """The `MjData` of each world, once started; changes to them take effect at the next step or observation."""
        return self._data

    @property
    def time_ns(self) -> int:
        """Time since the start [ns], by the clock of the first world's data, which a reset does not set back."""
        return self._clock.now_ns(started(self._data or None)[0].time)

    def scene(
        self,
        *,
        groups: Collection[int] = SHOWN_GROUPS,
        sag_m: float = 1e-3,
        infinite_m: float = 1024.0,
        materials: Mapping[str, AbstractMaterial] | None = None,
        plane_backs: bool = True,
    ) -> Scene:
        """A scene of the model's geoms on its bodies, to add to or to use as it is.

        Args:
            groups: Groups of geoms to take; by default those that MuJoCo's viewer shows.
            sag_m: How deep facets of round geoms may lie inside the true surface [m]; at least 2e-5 of the radius.
            infinite_m: How far a plane without size reaches to each side [m].
            materials: Surfaces by name of a geom or of a MuJoCo material; all others are matt, after their color.
            plane_backs: Whether planes are visible from below too; False matches MuJoCo's `mj_ray`, which passes them
                from there.
        """
        return model_scene(
            self.model,
            self.body_names,
            groups=groups,
            sag_m=sag_m,
            infinite_m=infinite_m,
            materials=materials,
            plane_backs=plane_backs,
        )

    def site(self, name: str) -> Mount:
        """Mount of a site: `env.attach(sensor, **world.site("imu"))`."""
        return site_mount(self.model, self.body_names, name)

    def start(self, worlds: int) -> None:
        """Run this many worlds side by side, from time 0; all equal, unless data are given."""
        mujoco, model, count = engine(), self.model, checked_worlds(worlds)
        if self._given is not None and len(self._given) != count:
            raise WorldError(
                f"data are given for {len(self._given)} worlds; {count} are to start, and each needs its own"
            )
        self._data = tuple(self._fresh() for _ in range(count)) if self._given is None else self._given
        self._clock = _Clock(model.opt.timestep, self.step_ns, self._data[0].time)
        self._layout = StateLayout(count, len(self.body_names), len(self.joint_names))

        # State that a reset restores: everything that the next step depends on
        self._everything = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        self._initial = np.empty((count, mujoco.mj_stateSize(model, self._everything)))
        for data, initial in zip(self._data, self._initial, strict=True):
            mujoco.mj_getState(model, data, initial, self._everything)

        # Engine counters of non-finite positions, velocities and accelerations, as live views
        bad = slice(mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQACC + 1)
        self._failures = [data.warning.number[bad] for data in self._data]
        self._failures_known = [failures.tolist() for failures in self._failures]

        # Inputs of a state: positions and velocities; for accelerations everything that the next step depends on
        parts = mujoco.mjtState
        moved = parts.mjSTATE_QPOS | parts.mjSTATE_QVEL | parts.mjSTATE_MOCAP_POS | parts.mjSTATE_MOCAP_QUAT
        kept = self._everything if self._accelerations else int(moved)
        self._kept_shape = (count, mujoco.mj_stateSize(model, kept))
        self._mj_step, self._mj_getState = mujoco.mj_step, mujoco.mj_getState
        self._motion = mujoco.mj_copyState, mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel, int(moved)

        # On a copy, in arrays with fixed addresses
        copy = mujoco.MjData(model)
        self._engine = Engine(
            mujoco=mujoco,
            model=model,
            option=model.opt,
            copy=copy,
            lock=threading.Lock(),
            places=places_of(model, copy),
            joints_at=self._joints_at,
            what=kept,
            size=self._layout.size,
            body_names=self.body_names,
        )

        # Gravity, which a user may change at any time
        self._option, self._gravity_off = model.opt, int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        self._gravity_set, self._gravity_known = self._option.gravity, [0.0, 0.0, 0.0]
        self._gravity_W, self._gravity_is_finite = _locked(self._gravity_known), True

    def step(self) -> None:
        """Call the controller and `mj_step` in every world."""
        data, mj_step, model, controller = started(self._data or None), self._mj_step, self.model, self._controller
        for world, one in enumerate(data):
            if controller is not None:
                controller(model, one, world)
            mj_step(model, one)

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Put the worlds where mask (worlds,) is true, and their `data.time`, back to the start; our time goes on."""
        mujoco = engine()
        for world in np.flatnonzero(checked_mask(mask, len(started(self._data or None)))):
            data = self._data[world]
            before_s = data.time
            mujoco.mj_resetData(self.model, data)
            mujoco.mj_setState(self.model, data, self._initial[world], self._everything)
            mujoco.mj_forward(self.model, data)  # for a controller that reads more than positions
            if world == 0:
                self._clock.restart(before_s, data.time)
            self._failures_known[world] = self._failures[world].tolist()

    def state(self) -> WorldState:
        """The state now."""
        all_data, model, engine = started(self._data or None), self.model, self._engine
        mj_copyState, mj_kinematics, mj_comPos, mj_comVel, motion = self._motion
        copy, places, joints_at = engine.copy, engine.places, engine.joints_at
        numbers, gravity_W, worlds = np.empty(engine.size), self._gravity(), len(all_data)
        finite = self._gravity_is_finite
        with engine.lock:
            for world, data in enumerate(all_data):
                self._check_failures(world)
                mj_copyState(model, data, copy, motion)
                mj_kinematics(model, copy)
                mj_comPos(model, copy)
                mj_comVel(model, copy)
                address = read_state(world, worlds, places, joints_at, gravity_W, False, numbers)
                finite = finite and address != 0
        return self._layout.state(
            self._clock.now_ns(all_data[0].time),
            numbers,
            gravity_W,
            accelerations=self._accelerations,
            later=self._later(gravity_W) if self._accelerations else None,
            finite=finite,
            address=address or None,
        )

    def later_state(self) -> WorldState:
        """The state now, computed on first use with the model at that time."""
        all_data, gravity_W = started(self._data or None), self._gravity()
        for world in range(len(all_data)):
            self._check_failures(world)
        later = self._later(gravity_W)
        return self._layout.state(
            self._clock.now_ns(all_data[0].time),
            None,
            gravity_W,
            accelerations=self._accelerations,
            later=later,
            finite=self._gravity_is_finite and is_moderate(later.kept),
        )

    def _later(self, gravity_W: NDArray[np.float64]) -> LaterState:
        """The deferred computation of the present state."""
        mj_getState, model, what = self._mj_getState, self.model, self._engine.what
        kept = np.empty(self._kept_shape)
        for world, data in enumerate(self._data):
            mj_getState(model, data, kept[world], what)
        return LaterState(self._engine, kept, gravity_W, self._option.disableflags)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _gravity(self) -> NDArray[np.float64]:
        """Gravity that acts now [m/s^2], read-only, shape (3,); the same array as long as it is the same."""
        now = [0.0, 0.0, 0.0] if self._option.disableflags & self._gravity_off else self._gravity_set.tolist()
        if self._gravity_known != now:
            self._gravity_known, self._gravity_W = now, _locked(now)
            self._gravity_is_finite = all(map(math.isfinite, now))
        return self._gravity_W

    def _fresh(self) -> Any:
        """New data at the start, with all derived quantities computed for a controller."""
        mujoco = engine()
        data = mujoco.MjData(self.model)
        if self._keyframe is not None:
            key = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_KEY, self._keyframe)
            if key < 0:
                names = ", ".join(self.model.key(i).name for i in range(self.model.nkey)) or "none"
                raise SpecError(f"keyframe is {self._keyframe!r}; the model has {names}")
            mujoco.mj_resetDataKeyframe(self.model, data, key)
        mujoco.mj_forward(self.model, data)
        return data

    def _check_failures(self, world: int) -> None:
        """Raise if the engine met a number that is not finite: it silently restarts from the initial state."""
        known, now = self._failures_known[world], self._failures[world].tolist()
        if now == known:
            return
        mujoco, model = engine(), self.model
        kinds = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
        self._failures_known[world] = now
        for kind, name, before, after in zip(kinds, ("position", "velocity", "acceleration"), known, now, strict=True):
            if after > before:
                index = self._data[world].warning[kind].lastinfo
                starts = model.jnt_qposadr if name == "position" else model.jnt_dofadr
                joint = int(np.searchsorted(starts, index, side="right")) - 1
                body = self.body_names[model.jnt_bodyid[joint] - 1]
                raise WorldError(
                    f"MuJoCo met a joint {name} of body {body!r} in world {world} that is not finite or too large "
                    "and started that world over; a smaller timestep may help"
                )


class _Clock:
    """Nanoseconds since the start, from a `data.time` that is a sum of timesteps, rounded at each of them."""

    def __init__(self, timestep_s: float, step_ns: int, time_s: float) -> None:
        self._timestep_s, self._step_ns = timestep_s, step_ns
        self._from_s, self._from_ns = time_s, 0
        self._seen_s = time_s
        self._next_s, self._next_ns = time_s + timestep_s, step_ns  # data.time after one more step

    def now_ns(self, time_s: float) -> int:
        """Our time [ns] at a data.time [s] that never goes back."""
        if time_s == self._next_s:
            now_ns, self._seen_s = self._next_ns, time_s
            self._next_s, self._next_ns = time_s + self._timestep_s, now_ns + self._step_ns
            return now_ns
        if time_s < self._seen_s:
            raise WorldError(
                f"data.time went back from {self._seen_s} to {time_s} s; restart a world by Environment.reset, "
                "which lets time go on"
            )
        self._seen_s = time_s
        elapsed_s = time_s - self._from_s
        steps = round(elapsed_s / self._timestep_s)
        if abs(elapsed_s - steps * self._timestep_s) <= (steps + 1) * math.ulp(time_s):
            now_ns = self._from_ns + steps * self._step_ns
            self._next_s, self._next_ns = time_s + self._timestep_s, now_ns + self._step_ns
            return now_ns
        self._next_s = math.nan
        return self._from_ns + round(elapsed_s * NS_PER_S)

    def restart(self, time_s: float, initial_s: float) -> None:
        """Go on from now while data.time is set from time_s to initial_s [s]."""
        self._from_ns = self.now_ns(max(time_s, self._seen_s))
        self._from_s = self._seen_s = initial_s
        self._next_s, self._next_ns = initial_s + self._timestep_s, self._from_ns + self._step_ns


def _locked(numbers: list[float]) -> NDArray[np.float64]:
    """A read-only array: it is shared."""
    array = np.array(numbers)
    array.setflags(write=False)
    return array


def _checked_data(data: Any, model: Any) -> tuple[Any, ...]:
    """One or several MjData, all of this model."""
    mujoco = engine()
    if not isinstance(data, mujoco.MjData | Sequence):
        raise SpecError(f"data is a {type(data).__name__}; it must be a mujoco.MjData or a sequence of them")
    given = (data,) if isinstance(data, mujoco.MjData) else tuple(data)
    if not given:
        raise SpecError("data is empty; it must hold one mujoco.MjData a world")
    for one in given:
        if not isinstance(one, mujoco.MjData):
            raise SpecError(f"data holds a {type(one).__name__}; it must hold mujoco.MjData")
        if one.model.signature != model.signature:
            raise SpecError("data belongs to another model; it must be made of this one")
    return given


def _timestep_ns(timestep_s: float) -> int:
    """The model's timestep in whole nanoseconds."""
    step_ns = round(timestep_s * NS_PER_S)
    if step_ns < 1 or abs(timestep_s * NS_PER_S - step_ns) > _WHOLE_NS:
        raise SpecError(
            f"the model's timestep is {timestep_s} s; it must be a whole number of nanoseconds: "
            f"set model.opt.timestep to {max(step_ns, 1) / NS_PER_S}"
        )
    return step_ns
