"""A world simulated by Basilisk."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.rotations import Float, rotate, rotation_from_quaternion
from sensorium.worlds.base import WorldState, checked_mask, checked_names, checked_worlds, started, step_length_ns
from sensorium.worlds.basilisk.messages import BodyStates, Messages, engine, quaternion_of_mrp
from sensorium.worlds.state_layout import StateLayout


class Basilisk:
    """Spacecraft of a Basilisk simulation, stepped here or observed while the user's loop steps them.

        world = sn.worlds.Basilisk(sim, {"sat": sat.scStateOutMsg})
        env = sn.Environment(sn.Scene(), world)

    The simulation belongs to the user, with its tasks, modules and events; this world reads its messages and writes
    nothing. Keep its parts in variables: Basilisk itself does not keep its modules and messages alive. `env.step()`
    advances it by `step_s`. In a loop of your own, run it and call `env.observe()`. The environment initializes a
    simulation that is not initialized yet. A state's time is when the messages were written, from 0.

    The world is Basilisk's frame N, a body's origin the point B. Gravity varies along an orbit, so a state has the
    gravity on each body: its mean over the step, which is the change of velocity of the center of mass less the change
    that Basilisk accumulates for all other forces. An accelerometer, wherever on the spacecraft, reads only the other
    forces and the rotation of the spacecraft; as in Basilisk, gravity is uniform over a spacecraft, which neglects
    tides of some 3e-6 m/s^2 a meter in a low Earth orbit.
    """

    def __init__(
        self,
        sim: Any,
        bodies: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        joints: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        step_s: float | None = None,
        accelerations: bool = True,
    ) -> None:
        """Wrap a simulation, or several that run side by side.

        Args:
            sim: `SimulationBaseClass.SimBaseClass`, or a sequence of them, one per world.
            bodies: Name and state message (`SCStatesMsg`) of each body; for several simulations a sequence of these,
                with the same names.
            joints: Likewise the joints: a hinge (`HingedRigidBodyMsg`), a slide (`LinearTranslationRigidBodyMsg`), or
                a reaction wheel as (`RWSpeedMsg`, number). A wheel's angle is zero at the start and its speed's
                integral from state to state after, by the trapezoidal rule.
            step_s: Duration of one step [s], a multiple of the period of the spacecraft's task; by default the shortest
                period of all tasks.
            accelerations: Whether the messages have accelerations, as those of `spacecraft.Spacecraft` do. Set False
                for others (those of an `MJScene`, of a point mass, or written by hand); then states have none, and
                gravity is the environment's.
        """
        self.sims = _checked_sims(sim)
        several = not isinstance(sim, engine()[1])
        named, turning = _each(self.sims, "bodies", bodies, several), _each(self.sims, "joints", joints or {}, several)
        self._messages = [Messages(b, j) for b, j in zip(named, turning, strict=True)]
        self.body_names = checked_names("body", named[0])
        self.joint_names = checked_names("joint", turning[0])
        self.slide_joints = self._messages[0].slides
        self.step_ns = _shortest_period_ns(self.sims[0]) if step_s is None else step_length_ns(step_s)
        self._accelerations = bool(accelerations)
        self._seen: list[_Seen] = []

    @property
    def time_ns(self) -> int:
        """Time of the messages since the start [ns], which a reset does not set back."""
        watched = zip(started(self._seen or None), self._messages, strict=True)
        times = {seen.now_ns(messages) for seen, messages in watched}
        if len(times) > 1:
            raise WorldError(f"the simulations are at {sorted(times)} ns; all worlds must be at one time")
        return times.pop()

    def start(self, worlds: int) -> None:
        """Begin with the present state of the simulations, one per world; each is initialized if necessary."""
        if checked_worlds(worlds) != len(self.sims):
            raise WorldError(f"{worlds} worlds are to start and sim holds {len(self.sims)}; each needs its own")
        for sim, messages in zip(self.sims, self._messages, strict=True):
            if not sim.simulationInitialized:
                sim.InitializeSimulation()
            if not messages.written:
                _run(sim, sim.TotalSim.CurrentNanos)
        self._seen = [_Seen(messages) for messages in self._messages]
        self._layout = StateLayout(worlds, len(self.body_names), len(self.joint_names))

    def step(self) -> None:
        """Advance every simulation by step_ns."""
        target_ns = self.time_ns + self.step_ns
        for seen, sim, messages in zip(started(self._seen or None), self.sims, self._messages, strict=True):
            _run(sim, seen.their_ns(target_ns))
            if seen.now_ns(messages) != target_ns:
                raise WorldError(
                    f"Basilisk wrote its last message at {messages.time_ns()} ns when run until "
                    f"{seen.their_ns(target_ns)} ns; step_s must be a multiple of the task's period, and no event may "
                    "end the simulation"
                )

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Initialize the simulations again where mask (worlds,) is true; our time goes on.

        Basilisk then calls the `Reset` of every module and warns of everything it creates twice. Modules are restored
        as far as their `Reset` does; recorders and events stay as they are. It is an error if bodies and joints differ
        from their initial state in any bit afterwards, or if the simulation was not at its own beginning when the world
        started.
        """
        for world in np.flatnonzero(checked_mask(mask, len(started(self._seen or None)))):
            seen, messages = self._seen[world], self._messages[world]
            if seen.first_ns != 0:
                raise WorldError(
                    f"the simulation of world {world} was at {seen.first_ns} ns when it started; Basilisk can go back "
                    "to 0 ns only: build a new simulation"
                )
            now_ns = seen.now_ns(messages)
            self.sims[world].InitializeSimulation()
            again = _Seen(messages, at_ns=now_ns)
            if not again.same_place(seen):
                raise WorldError(
                    f"the simulation of world {world} did not go back to its initial state when initialized anew; "
                    "build a new simulation"
                )
            self._seen[world] = again

    def state(self) -> WorldState:
        """The state now."""
        time_ns, numbers = self.time_ns, np.zeros(self._layout.size)
        p_WB, q_WB, v_WB, w_WB, a_WB, alpha_WB, *joints = self._layout.views(numbers)
        gravity_W = np.zeros_like(p_WB)
        for world, (seen, messages) in enumerate(zip(self._seen, self._messages, strict=True)):
            seen.look(messages)
            bodies = seen.bodies
            q_WB[world] = quaternion_of_mrp(bodies.sigma_BN)
            R_WB = rotation_from_quaternion(q_WB[world])
            p_WB[world], v_WB[world], w_WB[world] = bodies.r_BN_N, bodies.v_BN_N, rotate(R_WB, bodies.omega_BN_B)
            joints[0][world], joints[1][world] = seen.joints
            if self._accelerations:
                gravity_W[world] = seen.gravity_N
                a_WB[world] = rotate(R_WB, bodies.f_B) + seen.gravity_N
                alpha_WB[world] = rotate(R_WB, bodies.omega_dot_B)
        if not self._accelerations:
            return self._layout.state(time_ns, numbers, accelerations=False)
        gravity_W.setflags(write=False)
        return self._layout.state(time_ns, numbers, gravity_W)


class _Seen:
    """The last observation of one simulation, and quantities from the change since the previous one."""

    def __init__(self, messages: Messages, at_ns: int = 0) -> None:
        """Make the first observation.

        Args:
            messages: Of the simulation.
            at_ns: Our time now [ns].
        """
        self._time_ns = self.first_ns = messages.time_ns()
        self._ahead_ns = at_ns - self.first_ns
        self.bodies: BodyStates = messages.bodies()
        if self.first_ns == 0:
            # Basilisk's accelerations are means over a step; before the first step they are uninitialized memory
            nothing = np.zeros_like(self.bodies.f_B)
            self.bodies = self.bodies._replace(f_B=nothing, omega_dot_B=nothing)
        self.joints: Float = messages.joints()
        self.gravity_N = np.zeros_like(self.bodies.r_BN_N)
        """Mean gravity on each body since the previous observation [m/s^2], (bodies, 3); zero at first."""
        self._initial = (*self.bodies[:4], self.joints.copy())

    def now_ns(self, messages: Messages) -> int:
        """Our time of the messages [ns]."""
        return messages.time_ns() + self._ahead_ns

    def their_ns(self, time_ns: int) -> int:
        """Our time by the simulation's clock [ns]."""
        return time_ns - self._ahead_ns

    def same_place(self, other: "_Seen") -> bool:
        """Whether bodies and joints had the same initial state."""
        return all(np.array_equal(a, b) for a, b in zip(self._initial, other._initial, strict=True))

    def look(self, messages: Messages) -> None:
        """Observe the present messages."""
        time_ns = messages.time_ns()
        elapsed_s = (time_ns - self._time_ns) * 1e-9
        if elapsed_s == 0.0:
            return
        if elapsed_s < 0.0:
            raise WorldError(
                f"Basilisk's clock went back from {self._time_ns} to {time_ns} ns; restart by Environment.reset"
            )
        before, angle, speed = self.bodies, *self.joints
        self._time_ns, self.bodies, self.joints = time_ns, messages.bodies(), messages.joints()
        pushed = self.bodies.dv_CN_N - before.dv_CN_N
        self.gravity_N = (self.bodies.v_CN_N - before.v_CN_N - pushed) / elapsed_s
        turned = angle + 0.5 * (speed + self.joints[1]) * elapsed_s
        self.joints[0] = np.where(messages.integrates, turned, self.joints[0])


def _run(sim: Any, until_ns: int) -> None:
    sim.ConfigureStopTime(until_ns)
    sim.ExecuteSimulation()


def _checked_sims(sim: Any) -> tuple[Any, ...]:
    """One or several simulations."""
    _, kind = engine()
    sims = (sim,) if isinstance(sim, kind) else tuple(sim) if isinstance(sim, Sequence) else ()
    if not sims or not all(isinstance(one, kind) for one in sims):
        raise SpecError(f"sim is {sim!r:.80}; it must be a SimBaseClass of Basilisk or a sequence of them, one a world")
    return sims


def _each(sims: Sequence[Any], name: str, given: Any, several: bool) -> list[dict[str, Any]]:
    """The mappings of each simulation, all with the names of the first."""
    each = [given] if not several else [given] * len(sims) if not given else list(given)
    if len(each) != len(sims) or not all(isinstance(one, Mapping) for one in each):
        shape = f"a sequence of {len(sims)} mappings" if several else "a mapping"
        raise SpecError(f"{name} is {given!r:.80}; it must be {shape} from names to messages")
    for one in each:
        if tuple(one) != tuple(each[0]):
            raise SpecError(f"{name} are {', '.join(one)} in one world and {', '.join(each[0])} in another")
    return [dict(one) for one in each]


def _shortest_period_ns(sim: Any) -> int:
    periods = [task.TaskData.TaskPeriod for task in sim.TaskList]
    if not periods:
        raise SpecError("sim has no tasks; it must have one that runs the spacecraft")
    return int(min(periods))
