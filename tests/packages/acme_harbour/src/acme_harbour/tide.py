"""A world in which a buoy rises and falls: z = height sin(2 pi t / period)."""

import math
from typing import Literal

import numpy as np

import sensorium as sn
from sensorium.app.scenario import WorldSpec


class Tide:
    """The world at work."""

    body_names, joint_names = ("buoy",), ()

    def __init__(self, height_m, period_s, step_s):
        self._height_m, self._rate = height_m, 2.0 * math.pi / period_s
        self.step_ns, self.time_ns, self._worlds = round(step_s * 1e9), 0, 1

    def start(self, worlds):
        self._worlds, self.time_ns = worlds, 0

    def step(self):
        self.time_ns += self.step_ns

    def reset(self, mask):
        pass

    def state(self):
        angle = self._rate * self.time_ns * 1e-9
        position, velocity = np.zeros((self._worlds, 1, 3)), np.zeros((self._worlds, 1, 3))
        position[..., 2] = self._height_m * math.sin(angle)
        velocity[..., 2] = self._height_m * self._rate * math.cos(angle)
        none = np.zeros((self._worlds, 0))
        return sn.worlds.WorldState(self.time_ns, sn.Pose(position), velocity, np.zeros_like(velocity), none, none)


class TideSpec(WorldSpec):
    """As a scenario file has it."""

    kind: Literal["acme_tide"]
    height_m: float = 1.0
    period_s: float = 10.0
    step_s: float = 0.05

    def make(self, files):
        return Tide(self.height_m, self.period_s, self.step_s)
