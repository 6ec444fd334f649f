"""Tables as text and fits as JSON: numbers that come back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.promise import check
from fuzz.readers import READERS
from fuzz.strategies import attempts
from sensorium.analysis import AllanFit, read_log
from sensorium.core.errors import SpecError
from sensorium.worlds import Replay

number = st.floats(-1e100, 1e100)


@attempts()
@given(rows=st.lists(st.tuples(number, number, number), min_size=1, max_size=6), first_ns=st.integers(-(2**62), 2**61))
def test_poses_come_back(folder, rows, first_ns):
    lines = [f"{first_ns + 10**7 * k},car,{x!r},{y!r},{z!r},1,0,0,0" for k, (x, y, z) in enumerate(rows)]
    path = folder / "poses.csv"
    path.write_text("\n".join(["time_ns,body,x,y,z,qw,qx,qy,qz", *lines]))
    track = Replay(path).tracks["car"]
    np.testing.assert_array_equal(track.poses.position, rows)
    np.testing.assert_allclose(track.times_s, 0.01 * np.arange(len(rows)), rtol=1e-12)


@attempts()
@given(values=st.lists(number, min_size=2, max_size=8, unique=True), separator=st.sampled_from(",;\t"))
def test_logs_come_back(folder, values, separator):
    path = folder / "log.csv"
    path.write_text("\n".join([f"seq{separator}gx [rad/s]", *(f"{k}{separator}{v!r}" for k, v in enumerate(values))]))
    log = read_log(path, rate_hz=100.0)
    assert (log.names, log.units) == (("gx",), ("rad/s",))
    np.testing.assert_array_equal(log.values[:, 0], values)


def test_fits_come_back(folder):
    reader = READERS["allan-json"]
    path = folder / "allan.json"
    path.write_bytes(reader.seeds(folder)[0])
    fit = AllanFit.load(path)
    fit.save(folder / "again.json")
    again = AllanFit.load(folder / "again.json")
    np.testing.assert_array_equal(again.allan.deviation, fit.allan.deviation)
    np.testing.assert_array_equal(again.N, fit.N)


def refused(folder, name, text, says):
    reader = READERS[name]
    assert not check(reader, text.encode(), folder)
    with pytest.raises(SpecError, match=says):
        reader.read(folder / f"input{reader.suffix}")


POSES = "time_s,body,x,y,z,qw,qx,qy,qz\n"


def test_velocities_that_no_number_holds_are_told(folder):
    refused(folder, "poses-csv", "time_s,joint:wheel\n0,-1e308\n1,1e308\n2,0\n", "changes too fast for a velocity")
    jumps = "0,car,-1e308,0,0,1,0,0,0\n1,car,1e308,0,0,1,0,0,0\n"
    refused(folder, "poses-csv", POSES + jumps, "changes too fast for a velocity")


@pytest.mark.parametrize("time", ["1e999999", "-1e999999", "1e99999999999999999999", "9" * 100_000])
def test_times_of_any_length_are_told(folder, time):
    refused(folder, "poses-csv", f"{POSES}{time},car,0,0,0,1,0,0,0\n", "must be a finite number, within 2")


def test_wide_headers_are_read_once(folder):
    """Each name was looked for among all of them."""
    names = ",".join(f"joint:{k}" for k in range(60_000))
    refused(folder, "poses-csv", f"time_s,{names}\n", "it has no rows")


def test_many_bodies_share_the_memory_of_a_block(folder):
    rows = "".join(f"0,c{k},0,0,0,1,0,0,0\n" for k in range(5000))
    path = folder / "many.csv"
    path.write_text(POSES + rows)
    world = Replay(path)
    world.start(1)
    world.state()
    ((position, *_),) = world._blocks.values()
    assert position.shape == ((1 << 18) // 5000, 5000, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,gx\ninf,1\n1,2\n2,3\n", "'time' is inf in row 1; it must be finite"),
        ("t,wx\n0,1\n1,2\n2,3\n3,1\n4,5\n1e9,6\n", "samples are missing in 1 gaps|999999995 samples are missing"),
        ("t,wx\n0,1\n1,2\n2,3\n3,1\n4,5\n1e19,6\n", "time is 1e\\+19 s at row 6 of .* within 2\\^63 ns"),
        ("t,ax [g]\n0,1e308\n1,2\n2,3\n", "'ax' is 1e\\+308 at row 1|it must be finite"),
        ("[" * 50_000 + ",c\n1,2\n", "no time|has no column of time|no column"),
    ],
)
def test_logs_that_no_sensor_writes_are_told(folder, text, says):
    refused(folder, "log-csv", text, says)


def test_rays_that_fire_after_the_end_of_time_are_told(folder):
    rays = "azimuth_deg,elevation_deg,time_s\n0,0,0\n0,0,1.7e308\n"
    refused(folder, "rays-csv", rays, "it must be less than sweeps / rate_hz")


def test_a_wide_log_is_read_in_pieces(folder):
    """The reader set rows aside by the hundred thousand before it had seen one: gigabytes for some thousand columns."""
    wide = ",".join(["0.5"] * 2000)
    text = f"{','.join(f'c{k}' for k in range(2000))}\n{wide}\n{wide.replace('5', '6')}\n"
    assert not check(READERS["log-csv"], text.encode(), folder)
    assert read_log(folder / "input.csv", rate_hz=10.0).values.shape == (2, 2000)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"samples": 600', '"samples": 1e999', "every number must be finite"),
        ('"rate_hz": 100.0', '"rate_hz": NaN', "the number NaN"),
        ('"rate_hz": 100.0', '"rate_hz": 0', "rate_hz must be positive"),
        ('"terms": "NBK"', '"terms": "NN"', "they must be some of QNBKR"),
        ('"shape": [2]', '"shape": [-1]', "no length is negative"),
        ('"shape": [2]', '"shape": [1e300]', "is no whole Allan fit"),
        ('"version": 1', '"version": ' + "[" * 100_000, "nested too deep"),
        ('"kind"', r'"\ud800": 1, "kind"', "half a character"),
    ],
)
def test_fits_that_were_never_saved_are_told(folder, old, new, says):
    text = READERS["allan-json"].seeds(folder)[0].decode()
    assert old in text
    refused(folder, "allan-json", text.replace(old, new, 1), says)
