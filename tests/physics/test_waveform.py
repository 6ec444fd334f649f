"""The waveform lidar against closed forms and against the same physics in float64."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.physics import optics
from sensorium.sensors.lidar.waveform.tables import beam_rays
from sensorium.tracing.reference.ray_tree import ray_tree

# VANE's beam; 21 rays across will do where the shape of the target is simple
VANE = sn.waveform.Parameters(
    peak_power_W=70.0,
    aperture_radius_m=0.0125,
    wavelength_m=905e-9,
    pulse_duration_s=4e-9,
    divergence_rad=0.010,
    receiver_length_m=0.05,
    receiver_width_m=0.04,
    stop_s=650e-9,
)
AHEAD = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
PULSE = optics.gaussian_pulse_table(4e-9)
WINDOW = {"start_s": 0.0, "stop_s": 650e-9, "resolution_s": 0.5e-9}
MATT = sn.Lambertian(reflectance=0.5)


def fire(scene, *, atmosphere=None, sun=None, seed=0, pose=None, **fields):
    """One reading of a lidar at the origin that looks along x."""
    waveform = {"keep": True, "rays": {"kind": "grid", "across": 21}} | fields.pop("waveform", {})
    env = sn.Environment(scene, seed=seed, sun=sun, **({} if atmosphere is None else {"atmosphere": atmosphere}))
    spec = VANE.lidar(**{"pattern": AHEAD, "waveform": waveform} | fields)
    lidar = env.attach(spec, pose=sn.Pose() if pose is None else pose)
    for _ in env.run(duration_s=0.1):
        pass
    return lidar.read()


def wall(distance_m, material=MATT, size_m=20.0, y=0.0):
    scene = sn.Scene()
    scene.add(
        sn.shapes.box(0.2, size_m, 20.0), pose=sn.Pose((distance_m + 0.1, y, 0.0)), material=material, label="wall"
    )
    return scene


def samples(scan):
    return scan.waveform.samples.reshape(-1).astype(np.float64)


def test_a_large_wall_answers_205_4_times_weaker_at_86_m_than_at_6_m():
    """E-40: the receiver's solid angle alone, (86 / 6)^2, since the rays share the power at every range."""
    near, far = (samples(fire(wall(d))).sum() for d in (6.0, 86.0))
    # the receiver's own size counts a little at 6 m: A_r / (R^2 + A_r / pi)
    assert near / far * (6.0**2 + 0.002 / np.pi) / 6.0**2 == pytest.approx(205.44, rel=2e-3)


def test_a_wall_returns_the_lidar_equation_at_its_range():
    scan = fire(wall(30.0))
    peak = 70.0 * 0.5 / np.pi * 0.002 / 900.0
    binned = optics.binned_pulse(np.array([-0.25e-9]), 0.5e-9, *PULSE)[0]
    assert scan.intensity[0, 0] == pytest.approx(peak * binned, rel=2e-3)
    assert scan.range_m[0, 0] == pytest.approx(30.0, abs=2e-3)
    assert scan.width_s[0, 0] == pytest.approx(4e-9, rel=0.02)
    assert scan.cause[0, 0] == sn.Cause.SURFACE
    energy = samples(scan).sum() * 0.5e-9
    assert energy == pytest.approx(peak * 4e-9 * np.sqrt(np.pi / np.log(16.0)), rel=1e-3)


def bush_before_a_wall(distance_m, seed=4):
    """Leaves of many orientations, and a wall 3 m behind."""
    rng = np.random.default_rng(seed)
    scene = wall(distance_m + 3.0)
    for _ in range(60):
        turn = sn.Pose.from_euler_deg(
            np.array([distance_m, 0.0, 0.0]) + rng.uniform(-0.3, 0.3, 3), *rng.uniform(-60.0, 60.0, 3)
        )
        scene.add(sn.shapes.box(0.005, 0.12, 0.09), pose=turn, material=sn.Lambertian(reflectance=0.4), label="leaf")
    return scene


@pytest.mark.parametrize("distance_m", [6.0, 40.0])
def test_the_kernel_agrees_with_the_same_sum_over_rays_in_float64(distance_m):
    scene = bush_before_a_wall(distance_m)
    scan = fire(scene)
    rays = beam_rays(VANE.lidar(pattern=AHEAD, waveform={"rays": {"kind": "grid", "across": 21}}))
    slope = np.tan(0.005)
    aside = np.stack([np.zeros_like(rays.u), rays.u, rays.v], axis=-1)
    directions = np.array([1.0, 0.0, 0.0]) + slope * aside
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    hits = sn.RayCaster(scene).cast(0.0125 * aside, directions)
    cosine = np.abs(np.einsum("ri,ri->r", hits.normal.astype(float), directions))
    reflectance = np.where(hits.label == scene.labels["leaf"], 0.4, 0.5)
    area = 0.002 / (hits.range_m.astype(float) ** 2 + 0.002 / np.pi)
    signal = 70.0 * rays.weight * reflectance / np.pi * cosine * area * directions[:, 0]
    expected = optics.arrivals(hits.range_m, signal, PULSE, **WINDOW)
    np.testing.assert_allclose(samples(scan), expected, atol=5e-3 * expected.max())
    assert samples(scan).sum() == pytest.approx(expected.sum(), rel=1e-4)


def test_an_edge_gives_two_returns_shared_by_the_beam():
    """The box covers the beam's right half: both answer with half of the power."""
    scene = wall(20.0)
    scene.add(sn.shapes.box(1.0, 4.0, 4.0), pose=sn.Pose((14.5, -2.0, 0.0)), material=MATT, label="box")
    even = {"kind": "grid", "across": 20}  # no ray runs along the edge
    fit = {"kind": "gaussian_decomposition"}
    scan = fire(scene, returns="all", max_returns=3, waveform={"detector": fit, "rays": even})
    assert scan.valid[:, 0, 0].tolist() == [True, True, False]
    assert scan.label[:2, 0, 0].tolist() == [scene.labels["box"], scene.labels["wall"]]
    np.testing.assert_allclose(scan.range_m[:2, 0, 0], [14.0, 20.0], atol=2e-3)
    whole = fire(wall(20.0)).intensity[0, 0]
    np.testing.assert_allclose(scan.intensity[:2, 0, 0] * np.array([14.0, 20.0]) ** 2, 0.5 * whole * 20.0**2, rtol=0.02)


def test_an_edge_nearer_than_the_pulse_gives_one_mixed_return():
    scene = wall(20.0)
    scene.add(sn.shapes.box(0.1, 4.0, 4.0), pose=sn.Pose((19.85, -2.0, 0.0)), material=MATT, label="box")
    scan = fire(scene)
    assert scan.cause[0, 0] == sn.Cause.MIXED
    assert 19.8 < scan.range_m[0, 0] < 20.0


def test_fog_sends_its_hump_by_the_lidar_equation_of_the_air():
    """P(t) = P_t beta A_r / (r^2 + A_r / pi) exp(-2 alpha r), convolved with the pulse; a wall cuts it off."""
    fog = sn.media.fog(visibility_m=50.0)
    air = fog.at(905e-9)
    n, alpha, beta = air.refractive_index, air.extinction_per_m, air.backscatter_per_m_sr
    r = (np.arange(120_000) + 0.5) * 5e-4
    density = 70.0 * beta * 0.002 / ((r / n) ** 2 + 0.002 / np.pi) * np.exp(-2.0 * alpha * r)
    hump = fire(sn.Scene(), atmosphere=fog)
    begin = np.arange(1300) * 0.5e-9
    for b in (4, 20, 60, 200):
        t = begin[b] - 2.0 * n * r / SPEED_OF_LIGHT_M_S
        expected = np.sum(density * optics.binned_pulse(t, 0.5e-9, *PULSE)) * 5e-4
        assert samples(hump)[b] == pytest.approx(expected, rel=5e-3)

    cut = fire(wall(20.0), atmosphere=fog)
    before, behind = int(2 * 15.0 / SPEED_OF_LIGHT_M_S / 0.5e-9), int(2 * 23.0 / SPEED_OF_LIGHT_M_S / 0.5e-9)
    assert samples(cut)[before] == pytest.approx(samples(hump)[before], rel=1e-3)
    assert samples(cut)[behind] == pytest.approx(0.0, abs=1e-3 * samples(hump)[behind])
    at = int(2 * 20.0 * n / SPEED_OF_LIGHT_M_S / 0.5e-9)
    clear = samples(fire(wall(20.0)))[at - 20 : at + 20].max()
    share = (samples(cut) - samples(hump) * (np.arange(1300) < at))[at - 20 : at + 20].max() / clear
    assert share == pytest.approx(np.exp(-2.0 * alpha * 20.0), rel=0.05)


def test_a_fog_bank_answers_from_within_its_bounds():
    scene = sn.Scene()
    scene.add(sn.shapes.box(10.0, 20.0, 20.0), pose=sn.Pose((25.0, 0, 0)), material=sn.media.fog(visibility_m=30.0))
    scan = fire(scene, max_depth=3)
    range_m, wave = scan.waveform.range_m, samples(scan)
    inside = (range_m > 21.0) & (range_m < 29.0)
    assert wave[inside].min() > 10.0 * wave[(range_m < 18.0) | (range_m > 32.0)].max()
    air = sn.media.fog(visibility_m=30.0).at(905e-9)
    middle = np.argmin(np.abs(range_m - 25.0))
    width = optics.binned_pulse((np.arange(-60, 60)) * 0.5e-9, 0.5e-9, *PULSE).sum() * 0.5e-9 * SPEED_OF_LIGHT_M_S / 2
    expected = 70.0 * air.backscatter_per_m_sr * 0.002 / 25.0**2 * np.exp(-2.0 * air.extinction_per_m * 5.0) * width
    assert wave[middle] == pytest.approx(expected, rel=0.05)


def test_a_mirror_gives_its_ghost_at_the_length_of_the_path():
    scene = sn.Scene()
    turn = sn.Pose.from_euler_deg((10.0, 0.0, 0.0), yaw=45.0)
    scene.add(sn.shapes.box(0.01, 8.0, 8.0), pose=turn, material=sn.Mirror(reflectance=0.9), label="mirror")
    scene.add(sn.shapes.box(20.0, 0.2, 20.0), pose=sn.Pose((10.0, -6.1, 0.0)), material=MATT, label="wall")
    scan = fire(scene, max_depth=1)
    assert scan.range_m[0, 0] == pytest.approx(16.0, abs=0.02)
    assert scan.cause[0, 0] == sn.Cause.REFLECTION
    assert scan.depth[0, 0] == 1
    assert scan.label[0, 0] == scene.labels["wall"]
    assert scan.mirror_id[0, 0] == 0
    direct = fire(wall(16.0)).intensity[0, 0]
    assert scan.intensity[0, 0] / direct == pytest.approx(0.81, rel=0.02)


def test_one_ray_is_its_ray_tree():
    """Every node of the float64 tree is a pulse at its optical path, with what the lidar equation leaves of it."""
    scene = wall(12.0)
    pane = sn.Mesh([(6, -2, -2), (6, 2, -2), (6.8, 2, 2), (6.8, -2, 2)], [(0, 1, 2), (0, 2, 3)])
    scene.add(pane, material=sn.ThinGlass(refractive_index=1.5), label="glass")
    scene.add(sn.shapes.box(20.0, 20.0, 0.2), pose=sn.Pose((0.0, 0.0, 5.0)), material=MATT, label="ceiling")
    scan = fire(scene, max_depth=2, waveform={"rays": {"kind": "spiral", "count": 1}})
    nodes = ray_tree(
        sn.RayCaster(scene), (0, 0, 0), (1, 0, 0), max_depth=2, half_divergence_rad=0.005, detector_radius_m=0.01
    )
    met = [node for node in nodes if node.intensity > 0.0]
    assert len(met) >= 3
    captured = optics.captured_fraction(
        [node.z_m for node in met], detector_radius_m=0.01, exit_radius_m=0.01, half_divergence_rad=0.005
    )
    returned = np.array([node.intensity for node in met]) / captured
    z = np.array([node.z_m for node in met])
    signal = 70.0 * returned * 0.002 / (z**2 + 0.002 / np.pi)
    expected = optics.arrivals([node.opl_m for node in met], signal, PULSE, **WINDOW)
    np.testing.assert_allclose(samples(scan), expected, atol=2e-3 * expected.max())


def test_samples_have_the_noise_of_photons_and_electronics():
    """Variance of a sample in electrons: those of signal and sunlight, and the electronics' own."""
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=400, rate_hz=10)
    scene = sn.Scene()
    scene.add(sn.shapes.cylinder(8.0, 30.0, segments=720), material=MATT)
    quiet, noisy = (
        fire(
            scene,
            pattern=pattern,
            seed=3,
            sun=sn.fields.Sun(elevation_deg=60.0),
            receiver={"noise_electrons": 40.0 * on, "quantum_efficiency": 0.5},
            waveform={"shot_noise": bool(on), "rays": {"kind": "spiral", "count": 3}, "stop_s": 80e-9},
        )
        for on in (0, 1)
    )
    electrons = 0.5e-9 * 0.5 * 905e-9 / (6.62607015e-34 * SPEED_OF_LIGHT_M_S)
    clean = quiet.waveform.samples[0].astype(float)
    error = (noisy.waveform.samples[0] - clean) * electrons
    expected = np.sqrt(40.0**2 / 8.0 + clean * electrons)
    assert clean.min() > 0.0  # sunlight
    assert error.mean() == pytest.approx(0.0, abs=4 * expected.max() / np.sqrt(error.size))
    for bins in (slice(0, 60), slice(104, 110)):
        assert (error / expected)[:, bins].std() == pytest.approx(1.0, abs=0.05)


def test_a_strong_return_saturates_and_keeps_its_place():
    clean = fire(wall(10.0))
    full = 0.3 * float(clean.waveform.samples.max())
    cut = fire(wall(10.0), waveform={"full_scale": full, "detector": {"kind": "centroid"}})
    assert cut.waveform.samples.max() == pytest.approx(full)
    assert cut.range_m[0, 0] == pytest.approx(10.0, abs=0.02)


def test_the_receiver_sees_only_its_field():
    """A field as wide as half of the beam takes the middle of it; the wall behind is as far as it was."""
    fine = {"rays": {"kind": "grid", "across": 61}}
    whole, part = (
        samples(fire(wall(60.0), receiver={"half_field_rad": f}, waveform=fine)).sum() for f in (0.01, 0.002)
    )
    radius = (np.sqrt(0.002 / np.pi) + 60.0 * np.tan(0.002)) / (0.0125 + 60.0 * np.tan(0.005))
    assert part / whole == pytest.approx(np.expm1(-2.0 * radius**2) / np.expm1(-2.0), rel=0.05)


def test_an_offset_receiver_does_not_see_what_is_near():
    beam = {"detector_offset_m": 0.2}
    near, far = (fire(wall(d), beam=beam, receiver={"half_field_rad": 0.006}) for d in (5.0, 100.0 * 0.9))
    assert not near.valid.any()
    assert far.valid.all()


def test_a_beam_wider_one_way_sees_what_is_beside_it_that_way():
    for position, expected in (((20.0, 0.3, 0.0), True), ((20.0, 0.0, 0.3), False)):
        scene = sn.Scene()
        scene.add(sn.shapes.box(0.1, 0.2, 0.2), pose=sn.Pose(position), material=MATT)
        wide = {"beam": {"half_divergence_rad": (0.02, 0.005)}, "receiver": {"half_field_rad": 0.03}}
        assert fire(scene, **wide).valid.any() == expected


def test_a_roll_of_the_sensor_turns_its_beam():
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.1, 0.2, 0.2), pose=sn.Pose((20.0, 0.0, 0.3)), material=MATT)
    rolled = sn.Pose.from_euler_deg((0, 0, 0), roll=90.0)
    wide = {"beam": {"half_divergence_rad": (0.02, 0.005)}, "receiver": {"half_field_rad": 0.03}}
    assert fire(scene, pose=rolled, **wide).valid.all()


@pytest.mark.parametrize("kind", ["threshold", "leading_edge", "centroid", "cfar", "gaussian_decomposition"])
def test_every_detector_ranges_a_wall_through_noise_without_bias(kind):
    """Above a signal-to-noise ratio of 20 the mean range is within a tenth of a bin, 7.5 mm."""
    pattern = sn.patterns.Table(
        azimuth_deg=(0.0,) * 300, elevation_deg=(0.0,) * 300, time_s=tuple(np.arange(300) * 1e-5), rate_hz=10
    )
    scan = fire(
        wall(30.03),
        pattern=pattern,
        seed=5,
        receiver={"noise_electrons": 3500.0, "quantum_efficiency": 0.6},
        waveform={
            "detector": {"kind": kind},
            "keep": False,
            "rays": {"kind": "spiral", "count": 3},
            "shot_noise": True,
        },
    )
    seen = scan.valid & (np.abs(scan.range_m - 30.03) < 0.5)
    electrons = 0.5e-9 * 0.6 * 905e-9 / (6.62607015e-34 * SPEED_OF_LIGHT_M_S)
    noise = np.sqrt(3500.0**2 / 8.0 + float(scan.intensity[seen].mean()) * electrons)
    snr = scan.intensity[seen].mean() * electrons / noise
    assert 20.0 < snr < 60.0
    assert seen.mean() > 0.99
    assert abs(scan.range_m[seen].mean() - 30.03) < 0.1 * 0.0749


@pytest.mark.parametrize("kind", ["threshold", "leading_edge", "centroid", "cfar", "gaussian_decomposition"])
@pytest.mark.parametrize(
    ("noise_electrons", "shot_noise"), [(0.0, False), (0.0, True), (1.0, True)], ids=["none", "photons", "quiet"]
)
@pytest.mark.parametrize(("pulse_s", "resolution_s"), [(4e-9, 0.5e-9), (4e-9, 2e-9), (8e-9, 0.25e-9)])
def test_a_quiet_receiver_ranges_walls_at_random_distances_within_a_tenth_of_a_bin(
    kind, noise_electrons, shot_noise, pulse_s, resolution_s
):
    """The threshold of a receiver without noise was 1e-30 W, and ranges up to 117 mm off."""
    random = np.random.default_rng(12)
    distances = random.uniform(8.0, 80.0, 12)
    many = 25
    azimuth_deg = tuple(30.0 * k for k in range(12)) * many
    pattern = sn.patterns.Table(
        azimuth_deg=azimuth_deg, elevation_deg=(0.0,) * 12 * many, time_s=(0.0,) * 12 * many, rate_hz=10
    )
    scene = sn.Scene()
    for k, distance in enumerate(distances):
        pose = sn.Pose.from_euler_deg((0, 0, 0), yaw=30.0 * k) @ sn.Pose((distance + 0.1, 0.0, 0.0))
        scene.add(sn.shapes.box(0.2, 3.0, 3.0), pose=pose, material=MATT)
    scan = fire(
        scene,
        pattern=pattern,
        returns="all",
        receiver={"noise_electrons": noise_electrons, "quantum_efficiency": 0.6},
        beam={"pulse_s": pulse_s},
        waveform={
            "detector": {"kind": kind},
            "keep": False,
            "rays": {"kind": "spiral", "count": 3},
            "shot_noise": shot_noise,
            "resolution_s": resolution_s,
        },
    )
    assert 1.0 <= scan.valid.sum(axis=0).mean() < 1.01  # no photons are taken for returns of their own
    strongest = np.where(scan.valid, scan.intensity, -1.0).argmax(axis=0)
    error = np.take_along_axis(scan.range_m, strongest[None], axis=0).reshape(many, 12) - distances
    allowed = 0.1 * resolution_s * SPEED_OF_LIGHT_M_S / 2 + 3.5 * error.std(axis=0) / np.sqrt(many)
    assert (np.abs(error.mean(axis=0)) < allowed).all()
