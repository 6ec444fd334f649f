"""Samples of the converters: from first principles, and what a user's own transforms make of them."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError

LIGHT_M_S = 299792458.0


def hann(count):
    return np.sin(np.pi * (np.arange(count) + 0.5) / count) ** 2


def test_samples_are_those_of_a_delayed_chirp(balls, make_radar, read):
    """Two transmitters, two rows: phase of what is sent less that of what comes back, at each antenna and instant."""
    chirp = sn.radar.Chirp(bandwidth_hz=6e8, ramp_s=30e-6, interval_s=33e-6, samples=128, chirps=16, transmitters=2)
    spec = make_radar(
        chirp=chirp, antennas=3, elevation_antennas=2, adc=True, vertical_fov_deg=60.0, cross_sections={"ball": 1e6}
    )
    found, truth = read(balls((20.0, 6.0, 3.0, -12.0, 4.0, 0.0)), spec)
    assert found.adc.shape == (32, 6, 128)
    assert found.adc.dtype == np.complex64

    # Motion along the line of sight, from the end of the frame back
    rate, ahead = truth.range_rate_m_s[0], truth.range_m[0]
    azimuth, elevation = truth.azimuth_rad[0], truth.elevation_rad[0]
    m, n = np.arange(32)[:, None, None], np.arange(128)
    row, column = np.divmod(np.arange(6), 3)
    u = (n + 0.5) * chirp.ramp_s / 128 - 0.5 * chirp.ramp_s
    time = -chirp.frame_s + m * chirp.period_s + 0.5 * chirp.ramp_s + u
    right = 0.5 * chirp.wavelength_m * (3 * (m % 2) + column[:, None])
    down = 0.5 * chirp.wavelength_m * row[:, None]
    way = 2.0 * (ahead + rate * time) + right * np.sin(azimuth) * np.cos(elevation) + down * np.sin(elevation)
    delay = way / LIGHT_M_S
    model = np.exp(2j * np.pi * (chirp.carrier_hz * delay + chirp.slope_Hz_s * (u * delay - 0.5 * delay**2)))

    # Up to one phase, the scatterer's own
    same = abs(np.vdot(model, found.adc)) / (np.linalg.norm(model) * np.linalg.norm(found.adc))
    assert same > 0.9995
    level_W = np.mean(np.abs(found.adc) ** 2)
    assert level_W == pytest.approx(truth.power_W[0] / 6.0, rel=1e-3)


def test_noise_of_a_sample_is_that_of_the_receiver(balls, make_radar, read):
    spec = make_radar(adc=True, cross_sections={}, elevation_antennas=2)
    found, _ = read(balls(), spec)
    noise_W = 1.380649e-23 * 290.0 * 10**1.2 * 64 / 60e-6
    assert np.mean(np.abs(found.adc) ** 2) == pytest.approx(noise_W, rel=0.02)
    pair = found.adc[:, :, 1:] * np.conj(found.adc[:, :, :-1])
    assert abs(pair.mean()) < 0.02 * noise_W


def own_chain(adc, *, transmitters, factors, training=16, guard=4):
    """Windows, transforms, OS-CFAR, local maxima and a finer transform around each, in NumPy and nothing else.

    Returns:
        Power and cells of beam, speed and range of all peaks, strongest first, shape (n, 4).
    """
    chirps, receivers, samples = adc.shape
    chirps //= transmitters
    antennas = receivers * transmitters
    data = adc.reshape(chirps, transmitters, receivers, samples).transpose(1, 2, 0, 3)
    data = data.reshape(antennas, chirps, samples) * np.sqrt(receivers)
    n = np.arange(antennas)
    hamming = 0.54 - 0.46 * np.cos(2 * np.pi * (n + 0.5) / antennas)
    windowed = data * hamming[:, None, None] * hann(chirps)[:, None] * hann(samples)
    windowed /= hamming.sum() * hann(chirps).sum() * hann(samples).sum()

    def turned_back(speed):
        """What the speed turns the phase by between transmitters."""
        speed = np.mod(speed + 0.5 * chirps, chirps) - 0.5 * chirps
        return np.exp(-2j * np.pi * (n // receivers)[:, None] * speed / (chirps * transmitters))[:, :, None]

    maps = np.fft.fft2(windowed, axes=(1, 2)) * turned_back(np.arange(chirps))
    cube = np.abs(np.fft.fft(maps, axis=0)) ** 2
    peak = np.zeros(cube.shape, bool)
    for r in range(samples):
        around = [k for k in range(samples) if guard < abs(k - r) <= guard + training]
        level = np.sort(cube[..., around], axis=2)[..., round(0.75 * len(around)) - 1]
        peak[..., r] = cube[..., r] > factors[len(around)] * level
    for shift in np.ndindex(3, 3, 3):
        peak &= cube >= np.roll(cube, np.array(shift) - 1, axis=(0, 1, 2))
    found = []
    for cell in np.argwhere(peak):
        place, width = cell.astype(float), 1.0
        for _ in range(7):
            fine = [at + width * np.linspace(-1, 1, 5) for at in place]
            steps = [
                np.exp(-2j * np.pi * np.outer(at, np.arange(count)) / count)
                for at, count in zip(fine, windowed.shape, strict=True)
            ]
            power = np.abs(np.einsum("an,bm,cs,nms->abc", *steps, windowed * turned_back(place[1:2]))) ** 2
            best = np.unravel_index(power.argmax(), power.shape)
            place, width = np.array([fine[k][best[k]] for k in range(3)]), 0.5 * width
        found.append((power[best], *place))
    return np.array(sorted(found, reverse=True))


@pytest.mark.parametrize("transmitters", [1, 3])
def test_a_users_own_transforms_find_the_same(balls, make_radar, read, transmitters):
    """Four reflectors, one of them far to the left; detections to a fiftieth of a cell."""
    antennas = 8 if transmitters == 1 else 4
    chirp = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32, transmitters=transmitters)
    places = [(20.3, 3.0, 0.0, 2.0, 0, 0), (35.2, -6.0, 0.0, -1.5, 0, 0), (12.4, 10.0, 0.0), (41.0, 3.0, 0.0)]
    spec = make_radar(chirp=chirp, antennas=antennas, adc=True, horizontal_fov_deg=120.0, cfar={"false_alarm": 1e-8})
    found, truth = read(balls(*places), spec)
    factors = sn.radar.correlated_factors("hann", samples=64, training=16, guard=4, false_alarm=1e-8, rank=0.75)
    own = own_chain(found.adc, transmitters=transmitters, factors=factors)
    own = own[own[:, 0] > 5e-3 * own[0, 0]]  # no side lobes
    assert found.valid.sum() == truth.valid.sum() == len(own) == 4
    count = antennas * transmitters
    sine = np.mod(own[:, 1] / count + 0.5, 1.0) * 2.0 - 1.0
    rate = (np.mod(own[:, 2] / 32 + 0.5, 1.0) - 0.5) * 32 * chirp.speed_resolution_m_s
    range_m = own[:, 3] * chirp.range_resolution_m - chirp.coupling_m(rate) + rate * chirp.age_s
    np.testing.assert_allclose(found.range_m, range_m, atol=0.02 * chirp.range_resolution_m)
    np.testing.assert_allclose(found.range_rate_m_s, rate, atol=0.02 * chirp.speed_resolution_m_s)
    np.testing.assert_allclose(np.sin(found.azimuth_rad), sine, atol=0.02 * 2.0 / count)
    np.testing.assert_allclose(found.power_W, own[:, 0], rtol=0.02)


CASES = [
    {},
    {"antennas": 7, "window": "hamming"},
    {"antennas": 4, "elevation_antennas": 3, "angle_window": "hann"},
    {"window": "blackman_harris", "angle_window": "blackman_harris"},
    {"window": "rectangular", "angle_window": "rectangular"},
    {"antennas": 16, "horizontal_fov_deg": 50.0},
    {"antennas": 3, "transmitters": 3},
    {"antennas": 4, "transmitters": 2, "elevation_antennas": 2},
    {"bandwidth_hz": 900e6, "samples": 256},
]


@pytest.mark.parametrize("case", CASES)
def test_frames_of_samples_are_those_made_of_cells(balls, make_radar, read, case):
    """The same noise and echoes in two ways: cells that windows spread echoes to, and transforms of samples.

    Without a window side lobes are followed for 24 cells only; there maps differ by what is left out.
    """
    of_chirp = {"bandwidth_hz": 149.896229e6, "ramp_s": 60e-6, "samples": 64, "chirps": 32}
    chirp = sn.radar.Chirp(**{key: case.get(key, of_chirp.get(key, 1)) for key in (*of_chirp, "transmitters")})
    fields = {key: value for key, value in case.items() if key not in chirp.model_fields_set}
    places = [(20.3, 3.0, 1.0, 4.0, 0, 0), (35.2, -6.0, -2.0, -3.0, 0, 0), (12.4, 2.0, 0.0)]
    both = []
    for adc in (False, True):
        spec = make_radar(chirp=chirp, range_doppler=True, vertical_fov_deg=60.0, adc=adc, **fields)
        both.append(read(balls(*places), spec)[0])
    cells, samples = both
    loss = 0.03 if case.get("window") == "rectangular" else 5e-3
    apart = np.abs(np.sqrt(cells.map_W) - np.sqrt(samples.map_W)).max()
    assert apart < loss * np.sqrt(cells.map_W.max())
    np.testing.assert_array_equal(cells.object_id[:3], samples.object_id[:3])
    assert cells.valid.sum() == samples.valid.sum() == 3
    np.testing.assert_allclose(cells.range_m, samples.range_m, atol=0.02 * chirp.range_resolution_m)
    np.testing.assert_allclose(cells.range_rate_m_s, samples.range_rate_m_s, atol=0.02)
    np.testing.assert_allclose(cells.azimuth_rad, samples.azimuth_rad, atol=2e-3)
    np.testing.assert_allclose(cells.elevation_rad, samples.elevation_rad, atol=4e-3)
    np.testing.assert_allclose(cells.snr_dB, samples.snr_dB, atol=0.1)


def test_clutter_of_samples_is_that_of_cells(balls, make_radar, read):
    ground = {"z_m": -1.0, "reflectivity_dB": -10.0}
    both = [
        read(balls(ground=True), make_radar(ground=ground, range_doppler=True, cross_sections={}, adc=adc))[0]
        for adc in (False, True)
    ]
    roots = [np.sqrt(one.map_W) for one in both]
    assert np.abs(roots[0] - roots[1]).max() < 0.01 * roots[0].max()


OTHER = {"position_m": (40.0, 5.0, 0.0), "chirp": {"bandwidth_hz": 250e6, "ramp_s": 45e-6, "interval_s": 51e-6}}


def test_another_radar_raises_the_noise(balls, make_radar, read):
    """Bursts of 20 dB above the noise of a sample, spread over all cells; off unless asked for."""
    quiet, _ = read(balls((30.2, 0.0, 0.0)), make_radar(range_doppler=True))
    loud, truth = read(balls((30.2, 0.0, 0.0)), make_radar(range_doppler=True, adc=True, interferers=[OTHER]))
    rise = 10 * np.log10(np.median(loud.map_W) / np.median(quiet.map_W))
    assert rise > 10.0

    # As much as its power and the share of samples it is heard in say
    noise_W = 1.380649e-23 * 290.0 * 10**1.2 * 64 / 60e-6
    heard = np.mean(np.abs(loud.adc) ** 2) - noise_W
    assert 10 * np.log10(heard / noise_W + 1.0) == pytest.approx(rise, abs=3.0)
    assert loud.object_id[0] == 0
    assert truth.valid.sum() == 1
    again, _ = read(balls((30.2, 0.0, 0.0)), make_radar(range_doppler=True, adc=True, interferers=[OTHER]))
    np.testing.assert_array_equal(loud.adc, again.adc)


def test_the_same_chirps_from_elsewhere_are_a_ghost_at_their_angle(balls, make_radar, read):
    """A synchronous radar half an angle cell to the left: one detection, of interference, at its azimuth."""
    spec = make_radar()
    other = {"position_m": (30.0, 8.0, 0.0), "chirp": spec.chirp.model_dump(), "start_s": 1e-7, "power_W": 1e-6}
    found, truth = read(balls(), make_radar(interferers=[other], cross_sections={}))
    assert truth.valid.sum() == 0
    assert found.cause[0] == sn.EchoCause.INTERFERENCE
    assert found.azimuth_rad[0] == pytest.approx(np.arctan2(8.0, 30.0), abs=2e-3)
    late_s = 1e-7 + np.hypot(30.0, 8.0) / LIGHT_M_S
    assert found.range_m[0] == pytest.approx(0.5 * LIGHT_M_S * late_s, abs=0.02)
    assert found.range_rate_m_s[0] == pytest.approx(0.0, abs=0.02)


def test_a_radar_on_a_body_moves_with_it(balls, make_radar, read):
    spec = make_radar()
    other = {"position_m": (0.5, 0.0, 0.0), "body": "ball0", "chirp": spec.chirp.model_dump(), "start_s": 1e-7}
    env = balls((20.0, 10.0, 0.0, 0.0, -40.0, 0.0))
    found, truth = read(env, make_radar(interferers=[{**other, "power_W": 1e-3}]), steps=2)
    assert found.cause[0] == sn.EchoCause.INTERFERENCE
    assert found.azimuth_rad[0] == pytest.approx(truth.azimuth_rad[0], abs=0.02)
    with pytest.raises(SpecError, match="interferers has the body 'van'; it must be one of the world's"):
        read(balls((20.0, 0.0, 0.0)), make_radar(interferers=[{**other, "body": "van"}]))


def test_samples_follow_worlds_and_sensors(balls, make_radar, read):
    mounts = [sn.Pose(), sn.Pose.from_euler_deg(yaw=20.0)]
    spec = make_radar(adc=True, interferers=[OTHER])
    whole, _ = read(balls((30.0, 0.0, 0.0), worlds=2), spec, pose=mounts)
    assert whole.adc.shape == (2, 2, 32, 8, 64)
    alone, _ = read(balls((30.0, 0.0, 0.0), worlds=1, first_world=1), spec, pose=mounts)
    np.testing.assert_array_equal(whole.row(1, 1).adc, alone.row(0, 1).adc)
    assert whole.flat().adc is None
    assert not whole.without(np.array([True, False])).adc[0].any()
