"""Logs as text, the ways people write them."""

import numpy as np
import pytest

from sensorium.analysis import read_log
from sensorium.core.errors import SpecError

VALUES = np.random.default_rng(1).standard_normal((50, 3)).round(6)


def write(path, header, rows, separator=","):
    lines = [header] if header is not None else []
    lines += [separator.join(str(field) for field in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "times"),
    [
        ("t,gx,gy,gz", np.arange(50) * 0.02),
        ("time [ms],gx,gy,gz", np.arange(50) * 20),
        ("Time_us,gx,gy,gz", np.arange(50) * 20_000),
        ("#timestamp [ns],gx,gy,gz", 1403636579758555392 + np.arange(50) * 20_000_000),
        ("timestamp,gx,gy,gz", 1403636579758555392 + np.arange(50) * 20_000_000),
        ("timestamp,gx,gy,gz", 1403636579758555 + np.arange(50) * 20_000),
        ("timestamp,gx,gy,gz", 1403636579758 + np.arange(50) * 20),
        ("stamp,gx,gy,gz", 1403636579.5 + np.arange(50) * 0.02),
        ("%time,gx,gy,gz", 1403636579758555392 + np.arange(50) * 20_000_000),
        ('"time_s","gx","gy","gz"', np.arange(50) * 0.02),
    ],
)
def test_time_in_any_unit(tmp_path, header, times):
    rows = [(time, *row) for time, row in zip(times, VALUES, strict=True)]
    log = read_log(write(tmp_path / "log.csv", header, rows))
    assert log.names == ("gx", "gy", "gz")
    assert log.units == ("", "", "")
    assert log.rate_hz == pytest.approx(50.0, rel=1e-5)
    np.testing.assert_array_equal(log.values, VALUES)


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   ", " , "])
def test_separators(tmp_path, separator):
    log = read_log(write(tmp_path / "log.txt", None, VALUES, separator), rate_hz=10.0)
    assert log.names == ("column 1", "column 2", "column 3")
    np.testing.assert_array_equal(log.values, VALUES)


def test_without_time_the_rate_must_be_given(tmp_path):
    file = write(tmp_path / "log.csv", "gx,gy,gz", VALUES)
    with pytest.raises(SpecError, match=r"'log.csv' has no column of time; the rate must be given \(--rate\)"):
        read_log(file)
    assert read_log(file, rate_hz=200.0).rate_hz == 200.0


def test_a_given_rate_is_believed(tmp_path):
    file = write(tmp_path / "log.csv", "t,gx", [(0, 1.0), (0, 2.0), (7, 3.0), (1, 5.0)])
    log = read_log(file, rate_hz=20.0)
    assert log.rate_hz == 20.0
    np.testing.assert_array_equal(log.values[:, 0], [1, 2, 3, 5])


def test_units_of_the_header_become_si(tmp_path):
    header = "t [s],gx [deg/s],ax (mg),w_z [rad s^-1],temperature [K],field [furlong]"
    rows = [(k * 0.1, v, v, v, v, v) for k, v in enumerate(VALUES[:, 0])]
    file = write(tmp_path / "log.csv", header, rows)
    log = read_log(file)
    # what has an unknown unit is no inertial signal
    assert (log.names, log.units) == (("gx", "ax", "w_z"), ("rad/s", "m/s^2", "rad/s"))
    np.testing.assert_allclose(log.values, VALUES[:, :1] * [np.pi / 180, 9.80665e-3, 1.0])
    # but may be asked for
    asked = read_log(file, columns=["temperature", "gx"])
    assert (asked.names, asked.units) == (("temperature", "gx"), ("K", "rad/s"))


def test_given_units_win(tmp_path):
    file = write(tmp_path / "log.csv", "gx [rad/s],gy [rad/s],az", VALUES)
    one = read_log(file, rate_hz=1.0, unit=["deg/s"])
    np.testing.assert_allclose(one.values, VALUES * np.pi / 180)
    each = read_log(file, rate_hz=1.0, unit=["deg/s", "rad/s", "g"])
    assert each.units == ("rad/s", "rad/s", "m/s^2")
    np.testing.assert_allclose(each.values, VALUES * [np.pi / 180, 1.0, 9.80665])
    with pytest.raises(SpecError, match="unit has 2 entries; it must have one, or 3 for gx, gy, az"):
        read_log(file, rate_hz=1.0, unit=["deg/s", "g"])
    with pytest.raises(SpecError, match="unit is 'stone'"):
        read_log(file, rate_hz=1.0, unit=["stone"])


def test_columns_by_name_and_number(tmp_path):
    file = write(tmp_path / "log.csv", "gx,gy,gz", VALUES)
    log = read_log(file, rate_hz=1.0, columns=["3", "gx"])
    assert log.names == ("gz", "gx")
    np.testing.assert_array_equal(log.values, VALUES[:, [2, 0]])
    for wrong in (["4"], ["0"], ["ax"]):
        with pytest.raises(SpecError, match=r"it must be a number up to 3 or one of gx, gy, gz"):
            read_log(file, rate_hz=1.0, columns=wrong)
    with pytest.raises(SpecError, match="it must name at least one, each once"):
        read_log(file, rate_hz=1.0, columns=["gx", "1"])


def test_words_counters_and_constants_are_left_out(tmp_path):
    rows = [(k, "imu", 0.0, x, y) for k, (x, y, _) in enumerate(VALUES)]
    log = read_log(write(tmp_path / "log.csv", "seq,frame_id,covariance,gx,gy", rows), rate_hz=1.0)
    assert log.names == ("gx", "gy")
    np.testing.assert_array_equal(log.values, VALUES[:, :2])


def test_comments_blank_lines_and_a_byte_order_mark(tmp_path):
    file = tmp_path / "log.csv"
    rows = "\n\n".join(f"{k * 0.5},{v}" for k, v in enumerate(VALUES[:, 0]))
    file.write_text(f"\ufeff# made by a logger\n# time,gx\n{rows}\n# the end\n", encoding="utf-8")
    log = read_log(file)
    assert (log.names, log.rate_hz) == (("gx",), pytest.approx(2.0))
    np.testing.assert_array_equal(log.values[:, 0], VALUES[:, 0])


def test_names_that_come_twice_are_numbered(tmp_path):
    log = read_log(write(tmp_path / "log.csv", "x,x,y", VALUES), rate_hz=1.0)
    assert log.names == ("x 1", "x 2", "y")


def test_long_files_come_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("sensorium.analysis.csv_log._ROWS_AT_ONCE", 7)
    parts = []
    log = read_log(write(tmp_path / "log.csv", "gx,gy,gz", VALUES), rate_hz=1.0, progress=parts.append)
    np.testing.assert_array_equal(log.values, VALUES)
    assert len(parts) == 8
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'log.csv' has no row of numbers"),
        ("gx,gy\n", "'log.csv' has no row of numbers"),
        ("gx,gy\nname,other\n1,2\n", "line 2 of 'log.csv' is 'name,other'; it must be a row of numbers"),
        ("gx,gy,gz\n1,2\n3,4\n", "has 3 names and line 2 has 2 fields"),
        ("gx,gy\n1,2\n3,4\n5,oops\n", "'gy' is 'oops' at line 4 of 'log.csv'; it must be a number"),
        ("gx,gy\n1,2\n3,\n5,6\n", "'gy' is '' at line 3 of 'log.csv'; it must be a number"),
        ("gx,gy\n1,2\n3\n5,6\n", "line 3 of 'log.csv' has 1 fields; it must have 2"),
        ("gx,gy\n1,2\n3,nan\n5,6\n", "'gy' is nan at row 2 of 'log.csv'; it must be finite"),
        ("gx,gy\n1,2\n3,4\n5,-inf\n", "'gy' is -inf at row 3 of 'log.csv'; it must be finite"),
        ("gx,gy\n1,2\n3,4\n5,-1e308\n", "'gy' is -1e\\+308 at row 3 of 'log.csv'; it must be within 1e\\+100"),
        ("t,gy\n0,2\n1e300,4\n2e300,5\n", "time is 2e\\+300 s at row 3 of 'log.csv'; it must be within 2\\^63 ns"),
        ("gx,gy\n1,2\n1,2\n1,2\n", "no column of 'log.csv' changes"),
        ("t [fortnight],gx\n1,2\n2,3\n3,5\n", "time is in 'fortnight'; it must be in s, sec, ms"),
        ("t,name\n1,a\n2,b\n", "no column of t, name holds a signal"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, text, message):
    file = tmp_path / "log.csv"
    file.write_text(text)
    with pytest.raises(SpecError, match=message):
        read_log(file, rate_hz=None if text.startswith("t") else 1.0)


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "log.bin"
    file.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(SpecError, match=r"'log.bin' is not text; a log is CSV or ends in .mcap"):
        read_log(file, rate_hz=1.0)


def test_a_gap_is_named_with_its_row(tmp_path):
    rows = [(k * 0.1, k % 3) for k in range(100) if k not in (40, 41)]
    with pytest.raises(SpecError, match=r"2 samples are missing in 1 gaps, the first of 0.3 s before row 41 of"):
        read_log(write(tmp_path / "log.csv", "t,gx", rows))
