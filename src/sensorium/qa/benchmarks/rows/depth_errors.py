"""Errors and faults of depth cameras: the cost of a step with each, against one without."""

from sensorium.corruption import Fault, Freeze, White
from sensorium.physics.imaging.depth_errors import FlyingPixels, QuadraticError, StereoError, TimeOfFlightError
from sensorium.qa.benchmarks.rows import depth
from sensorium.qa.benchmarks.timing import ratio
from sensorium.sensors.depth_camera.errors import AnyDepthError

WORLDS = 512

ERRORS: dict[str, AnyDepthError] = {
    "quadratic": QuadraticError(square_per_m=0.001),
    "time of flight": TimeOfFlightError(modulation_hz=20e6, signal_e=1e5),
    "stereo without occlusion": StereoError(baseline_m=0.05, occlusion=False),
    "stereo": StereoError(baseline_m=0.05),
    "flying pixels of 3 x 3 rays": FlyingPixels(rays=3),
    "time of flight of 3 x 3 rays": TimeOfFlightError(modulation_hz=20e6, signal_e=1e5, rays=3),
}

FAULTS = {
    "one that never comes": Fault(Freeze(), start_s=1e6),
    "a frozen image": Fault(Freeze()),
    "white noise": Fault(White(std=0.1)),
}


def cost_of_errors(worlds: int = WORLDS, *, rounds: int = 7) -> dict[str, float]:
    """Cost of whole steps with each error, all threads, as multiples of a step without any, its images traced."""
    traced = depth.rig(worlds, lens=depth.TRACED)
    costs = {"none, drawn": 1.0 / ratio(depth.rig(worlds).step, traced.step, rounds=rounds)}
    for name, error in ERRORS.items():
        costs[name] = 1.0 / ratio(depth.rig(worlds, errors=[error]).step, traced.step, rounds=rounds)
    return costs


def cost_of_faults(worlds: int = WORLDS, *, side: int = depth.SIDE, rounds: int = 7) -> dict[str, float]:
    """Cost of whole steps with each fault of pixels, all threads, as multiples of a step without any."""
    healthy = depth.rig(worlds, side=side)
    return {
        name: 1.0 / ratio(depth.rig(worlds, side=side, faults=[fault]).step, healthy.step, rounds=rounds)
        for name, fault in FAULTS.items()
    }
