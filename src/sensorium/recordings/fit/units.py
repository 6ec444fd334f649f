"""How far two units of a lidar, or two firmwares, differ: what is fitted to one, held against the other."""

from sensorium.recordings.fit.fitted import HeldOut
from sensorium.recordings.fit.lidar import held_out
from sensorium.recordings.fit.noise_law import is_along_rings, noise_samples
from sensorium.recordings.fit.photon_law import chosen_law
from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.scans import LidarRecording


def between_units(first: LidarRecording, second: LidarRecording) -> tuple[HeldOut, ...]:
    """Figures of the second recording beside what all turns of the first say of them.

    The units may have other channels: noise is that of a law by range and reflectance. It is measured along rings in
    both where one of them moves or has a single turn.
    """
    mine, theirs = measure_lidar(first), measure_lidar(second)
    if is_along_rings(mine) != is_along_rings(theirs):
        mine, theirs = (measure_lidar(each, along_rings=True) for each in (first, second))
    law = chosen_law(noise_samples(first, mine)).law
    return held_out(law, noise_samples(second, theirs), mine, theirs)
