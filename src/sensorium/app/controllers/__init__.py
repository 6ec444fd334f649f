"""Controllers: close the loop by reading sensors after each step and commanding the world."""

from sensorium.app.controllers.adaptive_cruise import AdaptiveCruise
from sensorium.app.controllers.base import Controller, ControllerSpec, commanded_world
from sensorium.app.controllers.speed_profile import SpeedProfile

BUILT_IN: tuple[type[ControllerSpec], ...] = (AdaptiveCruise, SpeedProfile)
"""Controllers of scenarios by `kind`."""

__all__ = ["BUILT_IN", "AdaptiveCruise", "Controller", "ControllerSpec", "SpeedProfile", "commanded_world"]
