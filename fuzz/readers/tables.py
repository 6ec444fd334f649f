"""Tables as text: recorded poses, logs of inertial sensors, patterns of rays; and what is made of a log, allan.json."""

import json
from pathlib import Path

import numpy as np

from fuzz.reader import Reader, must_be_finite
from fuzz.readers.recordings import read_signal
from sensorium.analysis import AllanFit
from sensorium.analysis.allan import Allan
from sensorium.core.errors import SpecError
from sensorium.patterns.table import Table
from sensorium.worlds import Replay

_NUMBER_WORDS = (b",", b";", b"\n", b'"', b"e", b"-", b"1e308", b"-1e308", b"1e-308", b"nan", b"0,0,0", b"#", b"% ")


def _replay(path: Path) -> None:
    world = Replay(path)
    world.start(1)
    for _ in range(3):
        state = world.state()
        must_be_finite(position=state.X_WB.position, quaternion=state.X_WB.quaternion, v=state.v_WB, w=state.w_WB)
        must_be_finite(joint=state.joint_position, joint_velocity=state.joint_velocity)
        world.step()


def _poses(folder: Path) -> list[bytes]:
    plain = (
        "time_s,body,x,y,z,qw,qx,qy,qz\n0,car,0,0,1,1,0,0,0\n0.5,car,1,0,1,0.7071,0,0,0.7071\n0.5,van,1,2,3,1,0,0,0\n"
    )
    full = "time_ns,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,joint:wheel,joint_velocity:wheel\n"
    full += "1763260000000000000,car,0,0,1,1,0,0,0,1,0,0,0,0,1,0.5,2\n1763260000010000000,,,,,,,,,,,,,,,0.6,2\n"
    return [plain.encode(), full.encode(), b"time_s,joint:wheel\n0,0\n1,2\n2,-1\n"]


def _logs(folder: Path) -> list[bytes]:
    rows = [f"{0.01 * k:.2f},{np.sin(k):.4f},{np.cos(k):.4f}" for k in range(6)]
    blanks = [row.replace(",", " ") for row in rows]
    epoch = [f"{1_763_260_000_000_000_000 + 10_000_000 * k};{np.sin(k):.4f}" for k in range(6)]
    return [
        "\n".join(["time,gx [deg/s],ax (m/s^2)", *rows]).encode(),
        "\n".join(["% t gx gy", *blanks]).encode(),
        "\n".join(["timestamp;wx_rad_s", *epoch]).encode(),
        "\n".join(["t;wx", *(row.replace(",", ";").rpartition(";")[0] for row in rows)]).encode(),
    ]


def _read_rays(path: Path) -> None:
    table = Table.from_csv(path, rate_hz=10.0)
    rays = table.rays()
    must_be_finite(direction=rays.direction_S, time=rays.offset_ns)


def _rays(folder: Path) -> list[bytes]:
    return [
        b"azimuth_deg,elevation_deg,time_s\n0,0,0\n1,0,0.01\n2,-1,0.02\n",
        b"Time/s,Azimuth/deg,Zenith/deg,channel\n5.0,0,90,0\n5.01,1,91,1\n5.02,0,90,0\n5.03,1,91,1\n",
    ]


def _read_allan(path: Path) -> None:
    fit = AllanFit.load(path)
    must_be_finite(tau_s=fit.allan.tau_s, rate_hz=fit.allan.rate_hz, deviation=fit.allan.deviation)
    must_be_finite(**{term: values for term, values in fit.coefficients.items()})


def _allans(folder: Path) -> list[bytes]:
    rng, counts = np.random.default_rng(3), np.array([1, 4, 20])
    curves = {name: rng.random((3, 2)) for name in ("deviation", "low", "high", "degrees")}
    fit = AllanFit(
        coefficients={term: rng.random(2) for term in "NBK"},
        intervals={term: rng.random((2, 2)) for term in "NBK"},
        model_error=rng.random(2),
        fit_range_s=(0.01, 5.0),
        allan=Allan(tau_s=counts / 100.0, **curves, terms=600 - 2 * counts, rate_hz=100.0, samples=600),
        channels=("gyro.x", "gyro.y"),
        units=("rad/s", "rad/s"),
    )
    fit.save(folder / "allan.json")
    return [json.dumps(json.loads((folder / "allan.json").read_text("utf-8"))).encode()]


_JSON_WORDS = (b"null", b"NaN", b"-Infinity", b"true", b"[]", b"{}", b'"N"', b'"channels"', b'"shape"', b"[[1]]", b'""')
_LOG_WORDS = (b"time", b"[deg/s]", b"(ms)", b"time_ns", b"truth_x", b"t [fortnight]", *_NUMBER_WORDS)
_POSE_WORDS = (
    b"time_s",
    b"time_ns",
    b"body",
    b"joint:",
    b"joint:wheel",
    b"joint_velocity:wheel",
    b"vx",
    b"qw",
    *_NUMBER_WORDS,
)
_TRACKS = (
    "sensorium.worlds.replay.pose_csv",
    "sensorium.worlds.replay.track",
    "sensorium.worlds.replay.track",
    "sensorium.worlds.replay.world",
)

READERS = (
    Reader("poses-csv", ".csv", _replay, (SpecError,), _poses, _TRACKS, words=_POSE_WORDS),
    Reader(
        *("log-csv", ".csv", read_signal, (SpecError,), _logs),
        ("sensorium.analysis.csv_log", "sensorium.analysis.signal_log", "sensorium.analysis.units"),
        words=_LOG_WORDS,
    ),
    Reader(
        *("rays-csv", ".csv", _read_rays, (SpecError,), _rays, ("sensorium.patterns.table", "sensorium.core.spec")),
        words=(b"azimuth_rad", b"zenith_deg", b"channel", b"row", *_NUMBER_WORDS),
    ),
    Reader(
        *("allan-json", ".json", _read_allan, (SpecError,), _allans, ("sensorium.analysis.allan_file",)),
        words=_JSON_WORDS,
    ),
)
