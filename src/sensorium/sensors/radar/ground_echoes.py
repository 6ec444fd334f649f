"""Effects of flat ground on a frame: its own echoes, and the second path of all others."""

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.clutter import ground_cell_area, ground_reflectivity
from sensorium.physics.radio.ground import image_path, reflection_coefficient, roughness_factor
from sensorium.physics.radio.permittivity import permittivity
from sensorium.physics.radio.power import of_decibels
from sensorium.sensors.radar.echoes import Echoes, Instant, Points, received
from sensorium.sensors.radar.spec import Ground, Radar

Complex = NDArray[np.complex128]

# Clutter of wide beams consists of at least this many directions, each with its own speed
_LEAST_DIRECTIONS = 8


def clutter_points(spec: Radar, ground: Ground, instant: Instant) -> Points:
    """A patch of ground for each range cell and direction; objects in front of it do not hide it."""
    chirp = spec.chirp
    count = max(spec.virtual_antennas, _LEAST_DIRECTIONS)
    width = np.radians(spec.horizontal_fov_deg)
    azimuth = ((np.arange(count) + 0.5) / count - 0.5) * width
    cells = np.arange(1, chirp.samples)
    range_m = cells * chirp.range_resolution_m
    range_m = range_m[(range_m >= spec.min_range_m) & (range_m <= spec.farthest_m)]

    # Towards which the sensor looks, and how high above the ground
    p_WS, ahead_W = instant.X_WS.position, instant.X_WS.rotation[:, :, 0]
    height = p_WS[:, 2] - ground.z_m
    heading = np.arctan2(ahead_W[:, 1], ahead_W[:, 0])
    head, cell, way = (index.ravel() for index in np.indices((len(p_WS), len(range_m), count)))
    reaches = (height[head] > 0.0) & (range_m[cell] > height[head])
    head, cell, way = head[reaches], cell[reaches], way[reaches]
    distance = np.sqrt(range_m[cell] ** 2 - height[head] ** 2)
    angle = heading[head] + azimuth[way]
    p_W = p_WS[head].copy()
    p_W[:, 0] += distance * np.cos(angle)
    p_W[:, 1] += distance * np.sin(angle)
    p_W[:, 2] = ground.z_m

    assert ground.reflectivity_dB is not None
    grazing = np.arctan2(height[head], distance)
    level = ground_reflectivity(grazing, reflectivity=float(of_decibels(ground.reflectivity_dB)), law=ground.law)
    area = ground_cell_area(range_m[cell], range_resolution_m=chirp.range_resolution_m, beam_rad=width / count)
    return Points(head, np.full(len(head), -1), p_W, np.zeros_like(p_W), level * area)


def over_the_ground(
    points: Points, direct: Echoes, amplitude: Complex, spec: Radar, ground: Ground, instant: Instant
) -> tuple[Echoes, Complex]:
    """The echoes that go one way straight and one over the ground, and those that go over it both ways.

    Each is as late as its way is long, and turned in phase by that and by the ground.

    Args:
        points: Scatterers.
        direct: Its echoes on the straight way.
        amplitude: Theirs [sqrt(W)].
        spec: The radar.
        ground: The reflecting ground.
        instant: Where everything is.

    Returns:
        Two echoes for each point above the ground, and their amplitudes.
    """
    p_WS = instant.X_WS.position[points.head]
    heights = p_WS[:, 2] - ground.z_m, points.p_W[:, 2] - ground.z_m
    above = (heights[0] > 0.0) & (heights[1] >= 0.0)
    points, direct, amplitude, p_WS = points.kept(above), direct.kept(above), amplitude[above], p_WS[above]
    own, other = heights[0][above], heights[1][above]

    # The image as far below the ground as the point is above, moving down as it moves up
    flip = np.array([1.0, 1.0, -1.0])
    p_W = points.p_W * flip + np.array([0.0, 0.0, 2.0 * ground.z_m])
    mirrored = Points(points.head, points.object_id, p_W, points.v_W * flip, points.cross_section_m2)
    image = received(mirrored, instant, spec)
    level = np.hypot(*(points.p_W - p_WS)[:, :2].T)
    straight_m, bent_m, grazing = image_path(level, own, other)
    wave = spec.chirp.wavelength_m
    eps = ground.material
    reflection = reflection_coefficient(
        grazing,
        relative_permittivity=permittivity(eps, frequency_hz=spec.chirp.carrier_hz) if isinstance(eps, str) else eps,
        polarization=ground.polarization,
    ) * roughness_factor(grazing, roughness_m=ground.roughness_m, wavelength_m=wave)
    turned = reflection * np.exp(-2j * np.pi * (bent_m - straight_m) / wave)

    # One leg over the ground has the root of the two-leg factor; it may be the way out or back, hence twice
    strength = np.sqrt(image.power_W / np.maximum(direct.power_W, np.finfo(np.float64).tiny))
    once = _between(direct, image)
    return Echoes.joined([once, image]), np.concatenate(
        [2.0 * amplitude * np.sqrt(strength) * turned, amplitude * strength * turned**2]
    )


def _between(one: Echoes, other: Echoes) -> Echoes:
    """Echoes that come by two ways in turn: the mean of their places."""
    names = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "sine")
    means = {name: 0.5 * (getattr(one, name) + getattr(other, name)) for name in names}
    rest = {name: getattr(one, name) for name in Echoes.__dataclass_fields__ if name not in names}
    return Echoes(**means, **rest)
