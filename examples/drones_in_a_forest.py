"""Drones that learn to fly through forests: a Gymnasium vector environment with depth images, stepped for real."""

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.worlds import WorldState

G = np.array([0.0, 0.0, 9.80665])
TRUNK_M, DRONE_M = 0.25, 0.25  # radii
LENGTH_M, HEIGHT_M, GOAL_M = 40.0, 8.0, 36.0
HEIGHT, WIDTH, FOV_DEG, FAR_M = 48, 64, 90.0, 12.0


class Drones:
    """A world of one's own: one drone in each, which follows commanded accelerations with a lag, against drag.

    v' = a - v / T_drag and a' = (command - a) / T_lag; the drone tilts so that its thrust gives a and holds it up.
    """

    body_names, joint_names = ("drone",), ()
    step_ns = 50_000_000
    lag_s, drag_s, substeps = 0.12, 2.5, 5

    def __init__(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Restart the random places of drones."""
        self._random = np.random.default_rng(seed)

    def start(self, worlds: int) -> None:
        self.time_ns = 0
        self.position, self.velocity, self.acceleration, self.command = np.zeros((4, worlds, 3))
        self._up, self._turning = np.zeros((worlds, 3)), np.zeros((worlds, 3))
        self.reset(np.ones(worlds, np.bool_))

    def reset(self, mask: np.ndarray) -> None:
        """Put drones back to the edge of the forest, at rest, at a random place along it."""
        count = int(mask.sum())
        start = self._random.uniform((-1.0, -4.0, 1.5), (0.0, 4.0, 3.0), (count, 3))
        self.position[mask], self.velocity[mask], self.acceleration[mask], self.command[mask] = start, 0.0, 0.0, 0.0
        self._up[mask], self._turning[mask] = (0.0, 0.0, 1.0), 0.0

    def step(self) -> None:
        dt_s = 1e-9 * self.step_ns / self.substeps
        for _ in range(self.substeps):
            self.acceleration += (self.command - self.acceleration) * (dt_s / self.lag_s)
            self.velocity += (self.acceleration - self.velocity / self.drag_s) * dt_s
            self.position += self.velocity * dt_s
        before, thrust = self._up, self.acceleration + G
        self._up = thrust / np.linalg.norm(thrust, axis=-1, keepdims=True)
        self._turning = np.cross(before, self._up) / (1e-9 * self.step_ns)
        self.time_ns += self.step_ns

    def state(self) -> WorldState:
        # The shortest turn that brings z up to the thrust, so the drone looks along x and leans
        q = np.stack([1.0 + self._up[:, 2], -self._up[:, 1], self._up[:, 0], 0.0 * self._up[:, 0]], axis=-1)
        nothing = np.zeros((len(q), 0))
        return WorldState(
            time_ns=self.time_ns,
            X_WB=sn.Pose(self.position[:, None], (q / np.linalg.norm(q, axis=-1, keepdims=True))[:, None]),
            v_WB=self.velocity[:, None].copy(),
            w_WB=self._turning[:, None].copy(),
            joint_position=nothing,
            joint_velocity=nothing,
        )


class ForestEnv(VectorEnv):
    """Fly 36 m through its own forest, from depth images; trees are at other places in every episode.

    Observations: the depth image over 12 m, 0 near to 1 far; velocity over 5 m/s; the way to go over 36 m. Actions: an
    acceleration, 1 is 6 m/s^2. The reward is the way made towards the goal [m], less 0.02 |action|^2 a step; 20 for
    getting there, -10 for touching a trunk or the ground or leaving the forest. A world whose episode is over restarts
    in the next step (`AutoresetMode.NEXT_STEP`).
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(self, num_envs: int = 256, *, trees: int = 40, seed: int = 0, most_steps: int = 300) -> None:
        self.num_envs, self.most_steps = num_envs, most_steps
        self.single_observation_space = gym.spaces.Dict(
            {
                "depth": gym.spaces.Box(0.0, 1.0, (HEIGHT, WIDTH), np.float32),
                "velocity": gym.spaces.Box(-4.0, 4.0, (3,), np.float32),
                "way": gym.spaces.Box(-4.0, 4.0, (3,), np.float32),
            }
        )
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._trees = trees
        self._build(seed)

    def _build(self, seed: int) -> None:
        ground = sn.Scene()
        ground.add(sn.shapes.plane(200.0), label="ground")
        trunk = sn.SceneObject(sn.shapes.cylinder(TRUNK_M, HEIGHT_M, segments=12), label="tree")
        forest = sn.Scatter([trunk], self._trees, low=(3.0, -9.0, 4.0), high=(GOAL_M - 2.0, 9.0, 4.0), gap_m=1.0)
        scene = sn.SceneBatch.scattered([forest], worlds=self.num_envs, seed=seed, shared=ground)
        self.drones = Drones(seed)
        self.env = sn.Environment(scene, self.drones, worlds=self.num_envs, seed=seed)
        lens = sn.patterns.Pinhole.from_fov(WIDTH, HEIGHT, FOV_DEG, rate_hz=20.0)
        camera = sn.DepthCamera(pattern=lens, max_range_m=FAR_M, min_range_m=0.1, near_value_m=0.0, normalize=True)
        self.camera = self.env.attach(camera, body="drone")
        self._over, self._steps = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Restart every world; a seed restarts all randomness."""
        super().reset(seed=seed)
        if seed is not None:
            self._build(seed)
        self._over[:] = True
        return self.step(np.zeros(self.action_space.shape, np.float32))[0], {}

    def step(self, actions: np.ndarray) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Restart finished episodes, step everything by 50 ms, and observe."""
        begun = self._over.copy()
        if begun.any():
            self.env.reset(begun)
            self._steps[begun] = 0
        actions = np.where(begun[:, None], 0.0, np.clip(actions, -1.0, 1.0))
        before = self.drones.position[:, 0].copy()
        self.drones.command[:] = 6.0 * actions
        self.env.step()
        self._steps[~begun] += 1

        # Outcome of each
        p = self.drones.position
        trunks = self.env.scene.pose.position[:, :, :2]
        nearest = np.linalg.norm(trunks - p[:, None, :2], axis=-1).min(axis=1)
        outside = (np.abs(p[:, 1]) > 10.0) | (p[:, 0] < -3.0) | (p[:, 2] < DRONE_M) | (p[:, 2] > HEIGHT_M)
        crashed = (nearest < TRUNK_M + DRONE_M) | outside
        arrived = (p[:, 0] > GOAL_M) & ~crashed
        reward = p[:, 0] - before - 0.02 * (actions**2).sum(axis=1) - 10.0 * crashed + 20.0 * arrived
        terminated, truncated = (crashed | arrived) & ~begun, (self._steps >= self.most_steps) & ~begun
        self._over = terminated | truncated
        return self._seen(), np.where(begun, 0.0, reward), terminated, truncated, {"arrived": arrived & ~begun}

    def _seen(self) -> dict[str, np.ndarray]:
        goal = np.array([GOAL_M, 0.0, 2.0])
        return {
            "depth": self.camera.read().images["depth"],
            "velocity": np.clip(self.drones.velocity / 5.0, -4.0, 4.0).astype(np.float32),
            "way": np.clip((goal - self.drones.position) / GOAL_M, -4.0, 4.0).astype(np.float32),
        }


def steer(seen: dict[str, np.ndarray]) -> np.ndarray:
    """A plain policy: fly towards the opening of the depth image that is nearest to straight on, at 4 m/s."""
    columns = np.arange(WIDTH)
    left = (0.5 * WIDTH - 0.5 - columns) / (0.5 * WIDTH / np.tan(np.radians(0.5 * FOV_DEG)))  # tangent of the angle
    ahead = seen["depth"][:, HEIGHT // 3 : HEIGHT // 2].min(axis=1)
    wide = np.lib.stride_tricks.sliding_window_view(np.pad(ahead, ((0, 0), (7, 7)), mode="edge"), 15, axis=1)
    wanted = left - 3.0 * seen["way"][:, 1:2]
    best = np.argmax(np.minimum(wide.min(axis=-1), 0.6) - 0.15 * np.abs(wanted), axis=1)
    speed = 4.0 * np.clip(wide.min(axis=-1)[np.arange(len(best)), best] / 0.4, 0.25, 1.0)
    heading = np.stack([np.ones(len(best)), left[best], 0.0 * best], axis=-1)
    velocity = heading / np.linalg.norm(heading, axis=-1, keepdims=True) * speed[:, None]
    velocity[:, 2] = 30.0 * seen["way"][:, 2]
    return np.clip((velocity - 5.0 * seen["velocity"]) / 0.4 / 6.0, -1.0, 1.0).astype(np.float32)


def main(num_envs: int = 32, steps: int = 240) -> None:
    """Fly, and draw the view of one drone and the paths of several."""
    envs = ForestEnv(num_envs, seed=4)
    seen, _ = envs.reset(seed=4)
    trees, tracks, images = envs.env.scene.pose.position[:, :, :2].copy(), [envs.drones.position.copy()], []
    first, arrivals, ends = np.full(num_envs, steps), 0, 0
    began_s = time.perf_counter()
    for step in range(steps):
        seen, _, terminated, truncated, info = envs.step(steer(seen))
        over = terminated | truncated
        arrivals, ends = arrivals + int(info["arrived"].sum()), ends + int(over.sum())
        first[over & (first == steps)] = step + 1
        tracks.append(envs.drones.position.copy())
        if step % 30 == 29 and len(images) < 6:
            images.append(seen["depth"][0].copy())
    rate = num_envs * steps / (time.perf_counter() - began_s)
    print(f"{rate:.0f} steps a second in {num_envs} worlds, {rate * HEIGHT * WIDTH / 1e6:.1f} million pixels a second")
    print(f"{ends} flights ended, {arrivals} of them at the goal")

    # Six forests from above with the ways flown, and six moments of the first flight as the drone saw them
    figure, axes = draw.canvas(15.0, 9.6, 4, 3, height_ratios=(1.0, 1.0, 1.35, 1.35))
    for world, (above, eye) in enumerate(zip(axes[:6], axes[6:], strict=True)):
        draw.frame(above, f"World {world}", "x [m]" if world > 2 else "", "" if world % 3 else "y [m]", equal=True)
        above.scatter(*trees[world].T, s=22, color="#3fb950", linewidths=0.0)
        x, y, _ = np.array(tracks)[: first[world], world].T
        above.scatter(x, y, s=7, c=np.arange(len(x)), cmap="plasma", linewidths=0.0)
        above.axvline(GOAL_M, color=draw.COLORS[0], linestyle="--", linewidth=1.2)
        above.set(xlim=(-3, GOAL_M + 2), ylim=(-11, 11))
        shown = eye.imshow(FAR_M * images[world], vmin=0.0, vmax=FAR_M, cmap="turbo_r", interpolation="nearest")
        draw.frame(eye, f"What drone 0 sees after {1.5 * (world + 1):.1f} s", "", "", equal=True)
        eye.set(xticks=[], yticks=[])
    draw.color_scale(figure, axes[6:], shown, "depth [m]")
    save_figure("drones_in_a_forest.png", figure)


if __name__ == "__main__":
    main()
