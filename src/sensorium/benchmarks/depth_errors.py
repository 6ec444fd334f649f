"""Errors of depth cameras: what a step of many worlds costs with each, against one whose images are traced."""

from sensorium.benchmarks import depth
from sensorium.benchmarks.timing import ratio
from sensorium.imaging.depth_errors import FlyingPixels, QuadraticError, StereoError, TimeOfFlightError
from sensorium.sensors.depth_errors import AnyDepthError

WORLDS = 512

ERRORS: dict[str, AnyDepthError] = {
    "quadratic": QuadraticError(square_per_m=0.001),
    "time of flight": TimeOfFlightError(modulation_hz=20e6, signal_e=1e5),
    "stereo without occlusion": StereoError(baseline_m=0.05, occlusion=False),
    "stereo": StereoError(baseline_m=0.05),
    "flying pixels of 3 x 3 rays": FlyingPixels(rays=3),
    "time of flight of 3 x 3 rays": TimeOfFlightError(modulation_hz=20e6, signal_e=1e5, rays=3),
}


def cost_of_errors(worlds: int = WORLDS, *, rounds: int = 7) -> dict[str, float]:
    """What whole steps cost with each error, all threads, as multiples of a step without any, its images traced."""
    traced = depth.rig(worlds, lens=depth.TRACED)
    costs = {"none, drawn": 1.0 / ratio(depth.rig(worlds).step, traced.step, rounds=rounds)}
    for name, error in ERRORS.items():
        costs[name] = 1.0 / ratio(depth.rig(worlds, errors=[error]).step, traced.step, rounds=rounds)
    return costs
