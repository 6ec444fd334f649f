"""What tests of the radar share: small frames, and balls on paths."""

import pytest

import sensorium as sn

# 64 cells of 1 m, 32 of 1.014 m/s to +-16.2, 8 beams: small, so that a frame takes a millisecond
CHIRP = sn.radar.Chirp(bandwidth_hz=149.896229e6, ramp_s=60e-6, samples=64, chirps=32)
RADIUS = 0.4
BALL = sn.shapes.sphere(RADIUS, subdivisions=2)


@pytest.fixture(scope="session")
def make_radar():
    """Makes a radar with those frames: nearest points, steady echoes, 10 m^2, few false alarms unless told."""

    def made(**fields):
        usual = {
            "chirp": CHIRP,
            "source": "cone",
            "fluctuation": "steady",
            "vertical_fov_deg": 10.0,
            "cross_sections": {"ball": 10.0},
            "cfar": {"false_alarm": 1e-7},
        }
        if fields.get("source") == "rays":
            usual["ray_spacing_deg"] = 0.5
        return sn.Radar(**(usual | fields))

    return made


@pytest.fixture(scope="session")
def balls():
    """Makes an environment of balls by the place of their nearest point to the origin and their velocity."""

    def made(*placed, ground=False, velocity=(0, 0, 0), seed=1, **options):
        scene, paths = sn.Scene(), {"car": sn.paths.Line(start=(0, 0, 0), velocity=velocity)}
        if ground:
            scene.add(sn.shapes.plane(300.0), pose=sn.Pose((0, 0, -1)), label="ground", name="ground")
        for number, (x, y, z, *speed) in enumerate(placed):
            away = 1.0 + RADIUS / (x * x + y * y + z * z) ** 0.5
            paths[f"ball{number}"] = sn.paths.Line(start=(x * away, y * away, z * away), velocity=speed or (0, 0, 0))
            scene.add(BALL, body=f"ball{number}", label="ball", name=f"ball{number}")
        return sn.Environment(scene, sn.worlds.Kinematic(paths, step_s=0.05), seed=seed, **options)

    return made


@pytest.fixture(scope="session")
def read():
    """Attaches a radar to the body "car" and gives what it reads and its truth after some steps."""

    def done(env, spec, *, steps=1, **mount):
        radar = env.attach(spec, body="car", **mount)
        for _ in range(steps):
            env.step()
        return radar.read(), radar.truth()

    return done


@pytest.fixture(scope="session")
def truth_of(make_radar):
    """Truth of a radar with rays at the origin that looks along x, after some frames, one list a frame."""

    def done(scene, *, frames=1, bodies=(), hide=(), **fields):
        usual = {"source": "rays", "cross_sections": {}, "max_range_m": 300.0, "vertical_fov_deg": 20.0}
        env = sn.Environment(scene, sn.worlds.Static({name: sn.Pose() for name in bodies}, step_s=0.05))
        radar = env.attach(make_radar(**(usual | fields)), hide=hide)
        found = []
        for _ in range(frames):
            env.step()
            found.append(radar.truth())
        return found[0] if frames == 1 else found

    return done
