"""Fixed biases of a lidar's channels: given, or drawn once from the seed."""

import numpy as np
from numpy.typing import NDArray

from sensorium.random import Stream
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.errors.range_noise import RangeNoise

_STAGE = 0


def channel_biases_m(noise: RangeNoise, rig: Rig, channels: int) -> NDArray[np.float64]:
    """Bias of each channel of each sensor [m], shape (worlds x sensors, channels).

    The drawn part is a function of seed, sensor, world and channel: it belongs to the device and outlasts resets.

    Args:
        noise: With `channel_bias_m` or `channel_bias_std_m`.
        rig: Mount of the lidar.
        channels: Rows of the pattern.
    """
    given_m = np.array(noise.channel_bias_m) if noise.channel_bias_m else np.zeros(channels)
    if noise.channel_bias_std_m == 0.0:
        return np.broadcast_to(given_m, (rig.worlds * rig.sensors, channels))
    stream = Stream(rig.seed, f"{rig.name}/channel_bias")
    drawn = stream.normal(
        _STAGE, 0, 0, elements=rig.sensors * channels, worlds=rig.worlds, first_world=rig.first_world
    )
    return given_m + noise.channel_bias_std_m * drawn.reshape(-1, channels)
