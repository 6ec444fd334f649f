"""No check that cannot fail: each model is made wrong, and its check must turn red.

A mutation changes what the library computes, never what a check expects. Where a published form is known to be wrong
(the errata of the physics) that form is the mutation.
"""

import dataclasses
import datetime as dt
import importlib.util
import os

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption.errors import flicker
from sensorium.physics import cone
from sensorium.physics.imaging import depth_errors
from sensorium.physics.media import particles
from sensorium.qa.validation import all_checks, run_check
from sensorium.qa.validation.laws import camera, determinism, fields, inertial
from sensorium.qa.validation.laws.recordings import RECORDINGS
from sensorium.recordings.compare import simulation
from sensorium.recordings.opening import recordings_folder
from sensorium.runtime import worker_pool
from sensorium.sensors.cone import verdict as cone_verdict

SUN = fields.solar_position
CHECKS = {check.name: check for check in all_checks()}


def calls(owner, name, **changes):
    """Calls get other arguments: a value, or a function of the one given (of None, if none was)."""

    def mutate(patch):
        original = getattr(owner, name)

        def wrong(*arguments, **given):
            other = {key: change(given.get(key)) if callable(change) else change for key, change in changes.items()}
            return original(*arguments, **given | other)

        patch.setattr(owner, name, wrong)

    return mutate


def gives(owner, name, change):
    """A function's result is another: change(result, *arguments)."""

    def mutate(patch):
        original = getattr(owner, name)
        patch.setattr(owner, name, lambda *a, **k: change(original(*a, **k), *a))

    return mutate


def constant(owner, name, value):
    return lambda patch: patch.setattr(owner, name, value)


def times(factor):
    return lambda value: value * factor


def plus(offset):
    return lambda value: value + offset


def rounded_directions(patch):
    """Rays go where half as many digits of their directions point."""
    from sensorium.tracing import caster

    original = caster.checked_rays

    def wrong(*arguments, **given):
        rays, shape = original(*arguments, **given)
        return rays._replace(direction=rays.direction.astype(np.float16).astype(np.float32)), shape

    patch.setattr(caster, "checked_rays", wrong)


def longer_focus(pattern):
    """The pinhole a thousandth further from the image."""
    return pattern.model_copy(update={"focal_px": tuple(1.001 * f for f in pattern.focal_px)})


def shared_noise(patch):
    """Every signal draws the same numbers, as in Basilisk (E-32)."""
    original = sn.corruption.White.init
    patch.setattr(sn.corruption.White, "init", lambda self, *a, **k: original(self, *a, **k | {"name": "one"}))


def leaky(patch):
    """A ball with a hole as large as one face."""
    original = sn.Scene.add

    def wrong(self, mesh, **given):
        return original(self, sn.Mesh(mesh.vertices, mesh.faces[1:]), **given)

    patch.setattr(sn.Scene, "add", wrong)


def seeded_by(number):
    """The seed of an environment depends on what it must not depend on."""

    def mutate(patch):
        original = sn.Environment
        patch.setattr(sn, "Environment", lambda *a, **k: original(*a, **k | {"seed": k.get("seed", 0) + number()}))

    return mutate


def named_by_order(patch):
    original = sn.Environment.attach

    def wrong(self, sensor, *, name=None, **where):
        return original(self, sensor, name=f"{name} {len(self.sensors)}", **where)

    patch.setattr(sn.Environment, "attach", wrong)


def from_device(kind, **changes):
    """A device that is not what its sheet says."""

    def mutate(patch):
        original = kind.from_device

        def wrong(*arguments, **given):
            spec = original(*arguments, **given)
            for path, change in changes.items():
                *groups, field = path.split("__")
                owner = spec
                for group in groups:
                    owner = getattr(owner, group)
                value = getattr(owner, field)
                new = tuple(change(v) for v in value) if isinstance(value, tuple) else change(value)
                object.__setattr__(owner, field, new) if owner.model_config.get("frozen") else setattr(
                    owner, field, new
                )
            return spec

        patch.setattr(kind, "from_device", wrong)

    return mutate


optics, corruption, media = sn.optics, sn.corruption, sn.media
ROUGHER = {"roughness": times(1.001)}


def stronger_lens(patch):
    """Lenses are checked as if they bent more than they do."""
    check = sn.optics.check_brown_field

    def wrong(low, high, coefficients):
        check(low, high, tuple(1.001 * value for value in coefficients))

    patch.setattr(sn.optics, "check_brown_field", wrong)


def noisier(lidar, *arguments):
    """A lidar of half as much noise again."""
    noise = lidar.noise.model_copy(update={"base_m": 1.5 * lidar.noise.base_m})
    return lidar.model_copy(update={"noise": noise})


def less_sure_eyes(error):
    """A stereo camera of half as much noise again."""
    changed = {"disparity_std_px": 1.5 * error.disparity_std_px} if error.kind == "stereo" else {}
    return error.model_copy(update=changed)


def longer(pulse):
    """A pulse that is a fifth longer."""
    return pulse.model_copy(update={"time_s": tuple(1.2 * each for each in pulse.time_s)})


MUTATIONS = {
    **{check.name: gives(simulation, "_lidar", noisier) for check in RECORDINGS.checks},
    "twin-d435": from_device(sn.DepthCamera, errors=less_sure_eyes),
    "recorded-d435": from_device(sn.DepthCamera, errors=less_sure_eyes),
    "twin-basler": from_device(sn.Camera, noise__read_noise_e=times(1.5)),
    "twin-riegl": from_device(sn.Lidar, waveform__pulse=longer),
    "twin-ars548": from_device(sn.Radar, speed__noise__std=times(4.0)),
    "twin-mti": from_device(sn.Imu, linear__noise__density=times(2.0)),
    # Fresnel and refraction
    "fresnel-table": calls(optics, "fresnel_polarized", n=times(1.001)),
    "fresnel-limits": gives(optics, "fresnel_polarized", lambda R, *_: R[::-1]),
    "fresnel-energy": calls(optics, "fresnel", n=times(1.001)),
    "snell": calls(optics, "refract", n_to=times(1.001)),
    "pane": calls(optics, "pane", optical_depth=1e-3),
    "fresnel-mitsuba": calls(optics, "fresnel", n=times(1.001)),
    # Surfaces
    "monostatic-table": calls(optics, "ggx_monostatic", **ROUGHER),
    "facets-normalized": gives(optics, "ggx_distribution", lambda D, *_: D**1.001),
    "white-furnace": gives(optics, "smith_lambda", lambda value, *_: 1.05 * value),
    "lobe-albedo": calls(optics, "ggx", roughness=times(1.05)),
    "energy": calls(optics, "two_layer", layering="agx"),  # E-11
    "oren-nayar-energy": gives(optics, "oren_nayar", lambda f, *_: 1.001 * f),
    "reciprocity": gives(optics, "two_layer", lambda f, source, *_: f * np.asarray(source)[..., 2]),  # E-09
    "mirror-share": calls(optics, "mirror_transfer", half_angle_rad=times(1.001)),
    "matt-mitsuba": calls(optics, "oren_nayar", reflectance=times(1.001)),
    "glossy-mitsuba": calls(optics, "ggx", **ROUGHER),
    "coated-mitsuba": calls(optics, "two_layer", layering="two_way"),
    # Beams
    "captured-table": calls(optics, "captured_fraction", model="agx"),  # E-15
    "captured-scipy": calls(optics, "captured_fraction", model="agx"),
    "vane-beam": calls(optics, "waist_radius", divergence_rad=times(2.0)),  # E-38
    "beam-power": gives(optics, "gaussian_irradiance", lambda value, *_: 0.999 * value),
    # Air
    "extinction": constant(particles, "VISIBILITY_CONTRAST", 0.02),  # the older definition
    "beer-lambert": constant(particles, "VISIBILITY_CONTRAST", 0.02),
    "gamma-returns": calls(media, "fog", gamma_scale_m=0.5),
    # Ray casting
    "planes": rounded_directions,
    "spheres": rounded_directions,
    "oracle": rounded_directions,
    "moving-lidar": calls(sn.paths, "Line", velocity=(30.03, 0.0, 0.0)),
    "watertight": leaky,
    # Lidar
    "mirror-path": calls(sn, "Lidar", calibrated_index=1.0001),
    "water-path": calls(media, "uniform", refractive_index=1.331),
    "pane-return": calls(sn, "ThinGlass", refractive_index=1.51),
    "intensity-over-angle": calls(sn, "TwoLayer", **ROUGHER),
    "intensity-over-distance": calls(sn, "Beam", half_divergence_rad=times(1.01)),
    "lidar-equation": calls(sn, "Receiver", efficiency=0.999),
    "range-noise": calls(sn, "RangeNoise", slope=times(1.05)),
    # Waveforms
    "vane-wall": calls(sn.waveform, "Parameters", receiver_width_m=times(1.01)),
    "pulse-places": gives(optics, "arrivals", lambda wave, *_: np.roll(wave, 1)),
    "quiet-pulses": gives(optics, "arrivals", lambda wave, *_: np.roll(wave, 1)),
    "thresholds": gives(optics, "cfar_factor_exponential", lambda value, *_: 1.001 * value),
    # Camera
    "aberrations": gives(optics, "deviation", lambda value, *_: 1.001 * value),
    "blur": gives(optics, "blur_radius", lambda value, *_: 1.001 * value),
    "round-blur": calls(sn.imaging, "spot_table", pitch_m=lambda pitch: (pitch[0], pitch[0])),
    "folds": stronger_lens,
    "auto-exposure": calls(sn.imaging, "AutoExposure", speed=times(1.001)),
    "vignetting": calls(optics, "vignetting", focal_length_m=times(1.001)),
    "emva": calls(optics, "photons", wavelength_m=times(1.001)),
    "photon-transfer": calls(camera, "PixelNoise", read_noise_e=5.5),
    "radiance": calls(sn, "Lambertian", reflectance=times(1.001)),
    "black-body": gives(sn.imaging, "thermal_radiance", lambda value, *_: 1.01 * value),
    # Depth cameras
    "depth-and-range": calls(sn.patterns.Pinhole, "from_fov", center_px=(24.0, 13.5)),  # pixels at their corners
    "depth-noise": calls(sn, "DepthNoise", multiplier=times(1.1)),
    "stereo": calls(depth_errors, "StereoError", baseline_m=times(1.1)),
    "time-of-flight": calls(depth_errors, "TimeOfFlightError", modulation_hz=times(1.1)),
    # Cone sensor
    "cone-segments": gives(cone, "clipped_segment", lambda ends, *_: (ends[0] - 1e-3, ends[1])),
    "cone-triangles": gives(cone, "nearest_on_triangle", lambda found, *_: (found[0] + 1e-3, *found[1:])),
    "cone-table-2": calls(sn, "ConeSensor", lines=plus(1)),
    "cone-at-5-0-7": calls(sn, "ConeSensor", lines=plus(2)),
    "cone-verdict": constant(cone_verdict, "CHANCE", 0.2),
    "cone-table-3": gives(cone, "worst_angle_error", lambda error, *_: 1.001 * error),
    "cone-speed": calls(sn, "ConeSensor", range_rate={"noise": {"bias": 1e-3}}),
    # Radar
    "chirp": calls(sn.radar, "Chirp", bandwidth_hz=times(1.001)),
    "radar-equation": calls(sn.radar, "received_power", gain=times(1.001)),
    "cross-sections": calls(sn.radar, "plate", wavelength_m=times(1.01)),
    "cfar-false-alarms": calls(sn.radar, "crossings", false_alarm=times(1.3)),
    "radar-detection": calls(sn, "Radar", cross_sections={"ball": 11.0}),
    "radar-angles": calls(sn, "Radar", azimuth={"noise": {"bias": 4e-3}}),
    "radar-two-echoes": calls(sn, "Radar", cfar={"over": "mean"}),
    # Inertial sensors
    "specific-force": calls(sn, "Accelerometer", gravity_sign=1),  # E-17
    "mean-over-a-step": calls(sn, "Accelerometer", source="engine"),
    "gyroscope": calls(sn, "Gyroscope", g_sensitivity=lambda value: 1.001 * (value or 0.0)),
    "increments": calls(sn, "Imu", angular={"noise": {"bias": 0.01}}),
    "discretized-increments": calls(corruption, "Quantize", rounding="from_zero"),
    "magnetometer": calls(sn.fields, "MagneticDipole", moment=(0, 0, 1001.0)),
    "barometer": gives(inertial, "pressure_at", lambda value, height: value * (1 + 1e-6 * np.asarray(height))),
    # Encoders and odometers
    "encoder-bins": calls(sn, "Encoder", resolution=0.125),
    "encoder-speed": calls(sn, "Encoder", resolution=0.02),
    "odometer": calls(sn, "Odometer", radius_m=times(1.001)),
    # Errors of signals
    "white-law": calls(corruption, "White", law="normal"),
    "density": calls(corruption, "White", sided="two"),  # E-19
    "gauss-markov": calls(corruption, "GaussMarkov", tau_s=times(1.3)),
    "walk-and-step": calls(corruption, "RandomWalk", density=times(1.1)),
    "bounded-walks": calls(corruption, "BoundedWalk", step_std=times(1.3)),
    "codes": calls(corruption, "Quantize", code="full_span"),
    "independence": shared_noise,
    # Allan deviation
    "allan-definition": gives(
        sn.analysis, "allan_deviation", lambda a, *_: dataclasses.replace(a, deviation=1.001 * a.deviation)
    ),
    "allan-white-and-walk": calls(corruption, "White", sided="one"),
    "allan-gauss-markov": calls(corruption, "GaussMarkov", tau_s=times(1.4)),
    "allan-floor": constant(flicker, "FLOOR", 0.7),
    "allan-fit": gives(
        sn.analysis, "allan_deviation", lambda a, *_: dataclasses.replace(a, deviation=1.2 * a.deviation)
    ),
    # Random numbers
    "philox": gives(sn.random, "philox", lambda words, *_: words[::-1]),
    "laws": gives(sn.random.Stream, "uniform", lambda value, *_: value**1.05),
    # Fields, sun and Earth
    "gravity": calls(sn.fields, "J2Gravity", j2=1.09e-3),
    "dipole": calls(sn.fields, "MagneticDipole", position=(0.0, 0.0, 1e3)),
    "world-magnetic-model": calls(sn.fields, "WorldMagneticModel", date=plus(0.5)),
    "sun-place": gives(fields, "solar_position", lambda _, time: SUN(time + dt.timedelta(minutes=2))),
    "sun-spectrum": gives(
        sn.fields.Sun, "spectral_irradiance", lambda value, _, wavelength: value * (1 + 1e5 * wavelength)
    ),
    "geodetic": gives(fields, "geodetic_position", lambda value, *_: (value[0] + 1e-5, *value[1:])),
    # MuJoCo and Basilisk
    "mujoco-ranges": calls(sn.patterns, "Table", azimuth_deg=(0.01,)),
    "mujoco-depth": calls(sn, "DepthCamera", pattern=longer_focus),
    "mujoco-renderer": calls(sn, "DepthCamera", pattern=longer_focus),
    "mujoco-inertial": calls(sn, "Imu", linear={"source": "velocity"}),
    "basilisk-ideal": calls(sn, "Imu", linear={"source": "velocity"}),
    "basilisk-chain": calls(corruption, "Quantize", rounding="floor"),
    # Devices
    "sheet-lidar": from_device(sn.Lidar, max_range_m=times(0.9)),
    "sheet-imu": from_device(sn.Imu, linear__noise__density=times(1.2)),
    "sheet-magnetometer": from_device(sn.Magnetometer, noise__std=times(1.2)),
    "sheet-encoder": from_device(sn.Encoder, counts_per_turn=times(2)),
    "sheet-camera": from_device(sn.Camera, full_well_e=times(1.2)),
    "sheet-depth_camera": from_device(sn.DepthCamera, max_range_m=times(0.9)),
    "sheet-radar": from_device(sn.Radar, max_range_m=times(0.9)),
    # Determinism
    "threads": seeded_by(worker_pool.get_threads),
    "batches": calls(sn, "Environment", first_world=0),
    "attach-order": named_by_order,
    "restarts": seeded_by(os.getpid),
    "partitions": gives(determinism, "middle_of", lambda value, *_: value + 200.0),
}


def test_every_check_has_a_mutation_and_every_mutation_a_check():
    assert set(MUTATIONS) == set(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_a_wrong_model_turns_its_check_red(name, monkeypatch):
    check = CHECKS[name]
    for package in check.needs:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if check.family == RECORDINGS.title and not recordings_folder().is_dir():
        pytest.skip(f"there is no folder {recordings_folder().name} of recordings")
    MUTATIONS[name](monkeypatch)
    result = run_check(check, quick=True)
    assert result.verdict == "failed", "the model is wrong and the check does not see it"
    assert result.comparison is not None, f"red for another reason: {result.reason}"
