"""Patterns given ray by ray, and the files they come from."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.patterns import Raster, Table

GOOD = {
    "azimuth_deg": (0.0, 90.0, 0.0, 45.0),
    "elevation_deg": (0.0, 0.0, 30.0, -45.0),
    "time_s": (0.0, 0.01, 0.02, 0.03),
    "rate_hz": 10.0,
}


def test_rays_are_as_given():
    table = Table(**GOOD).rays()
    half, root = 0.5, np.sqrt(0.5)
    expected = [[(1, 0, 0), (0, 1, 0), (np.sqrt(0.75), 0, half), (half, half, -root)]]
    np.testing.assert_allclose(table.direction_S, expected, atol=1e-7)
    np.testing.assert_array_equal(table.offset_ns, [[0, 10_000_000, 20_000_000, 30_000_000]])
    assert table.duration_ns == 100_000_000
    assert table.origin_S is None


def test_channels_become_rows_in_firing_order():
    table = Table(**GOOD, channel=(7, 2, 7, 2)).rays()
    np.testing.assert_array_equal(table.offset_ns, [[10_000_000, 30_000_000], [0, 20_000_000]])
    np.testing.assert_allclose(table.direction_S[1, 1], (np.sqrt(0.75), 0.0, 0.5), atol=1e-7)


def test_a_long_table_is_cut_into_sweeps_and_starts_over():
    # Rays on the seam, 0.1 s and 0.2 s, open the next sweep although 3 x 0.1 is not 0.3 in binary.
    time_s = tuple(0.05 * k for k in range(6))
    pattern = Table(azimuth_deg=range(6), elevation_deg=(0.0,) * 6, time_s=time_s, rate_hz=10.0, sweeps=3)
    assert pattern.cycle == 3
    for sweep in range(6):
        table = pattern.rays(sweep)
        azimuth = np.degrees(np.arctan2(table.direction_S[0, :, 1], table.direction_S[0, :, 0]))
        first = 2 * (sweep % 3)
        np.testing.assert_allclose(azimuth, [first, first + 1], atol=1e-5)
        np.testing.assert_array_equal(table.offset_ns, [[0, 50_000_000]])
    assert pattern.rays(4) is pattern.rays(1)


def test_tables_that_differ_in_one_ray_are_told_apart():
    # The hash looks at a few rays only; equality must look at all of them.
    rays = 1000
    azimuth = [0.0] * rays
    common = {"elevation_deg": (0.0,) * rays, "time_s": (0.0,) * rays, "rate_hz": 10.0}
    plain = Table(azimuth_deg=tuple(azimuth), **common)
    azimuth[501] = 90.0
    odd = Table(azimuth_deg=tuple(azimuth), **common)
    assert hash(plain) == hash(odd)
    assert plain != odd
    assert plain.rays().direction_S[0, 501, 0] == 1.0
    assert odd.rays().direction_S[0, 501, 1] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"azimuth_deg": ()}, "azimuth_deg"),
        ({"elevation_deg": (0.0,)}, "elevation_deg has 1 entries"),
        ({"elevation_deg": (0.0, 0.0, 0.0, 90.5)}, "elevation_deg"),
        ({"time_s": (0.0, 0.02, 0.01, 0.03)}, r"time_s\[2\] is 0.01 after 0.02"),
        ({"time_s": (-0.1, 0.02, 0.03, 0.03)}, "time_s"),
        ({"time_s": (0.0, 0.02, 0.03, 0.1)}, "less than sweeps / rate_hz"),
        ({"time_s": (0.0, 0.02, 0.03, 1e300)}, "less than sweeps / rate_hz"),
        ({"channel": (0, 0, 0, 1)}, "row 1 of sweep 0 has 1 rays"),
        ({"channel": (0, 0, 0, -1)}, "channel"),
        ({"sweeps": 2}, "row 0 of sweep 1 has 0 rays"),
        ({"sweeps": 1_000_000}, "4 rays for 1 rows in 1000000 sweeps"),
    ],
)
def test_broken_rules_name_the_field(change, message):
    with pytest.raises(SpecError, match=message):
        Table(**{**GOOD, **change})


def test_file_in_degrees(tmp_path):
    path = tmp_path / "rays.csv"
    rays = zip(GOOD["azimuth_deg"], GOOD["elevation_deg"], GOOD["time_s"], strict=True)
    path.write_text("azimuth_deg,elevation_deg,time_s\n" + "".join(f"{a},{e},{t}\n" for a, e, t in rays))
    assert Table.from_csv(path, rate_hz=10.0) == Table(**GOOD)


def test_file_in_radians_and_zenith_angles_with_time_from_the_first_ray(tmp_path):
    path = tmp_path / "rays.csv"
    lines = ["\ufeffTime/s, Azimuth/rad ,Zenith/rad,Row", ""]
    for azimuth, elevation, time in zip(GOOD["azimuth_deg"], GOOD["elevation_deg"], GOOD["time_s"], strict=True):
        lines.append(f"{time + 1e-5!r},{np.radians(azimuth)!r},{np.radians(90.0 - elevation)!r},{int(time * 50)}")
    path.write_text("\r\n".join(lines).replace("np.float64(", "").replace(")", ""), encoding="utf-8")
    table = Table.from_csv(str(path), rate_hz=10.0)
    assert table.channel == (0, 0, 1, 1)
    np.testing.assert_allclose(table.azimuth_deg, GOOD["azimuth_deg"], atol=1e-12)
    np.testing.assert_allclose(table.elevation_deg, GOOD["elevation_deg"], atol=1e-12)
    np.testing.assert_allclose(table.time_s, GOOD["time_s"], atol=1e-15)
    assert table.time_s[0] == 0.0


def test_a_raster_survives_the_way_through_a_file(tmp_path):
    raster = Raster(
        height=4,
        width=6,
        horizontal_fov_deg=(-30.0, 30.0),
        vertical_fov_deg=(-12.0, 12.0),
        rate_hz=5.0,
        firing="columns",
    ).rays()
    x, y, z = np.moveaxis(raster.direction_S.astype(float), -1, 0)
    path = tmp_path / "raster.csv"
    with path.open("w") as file:
        file.write("channel,time_s,azimuth_rad,elevation_rad\n")
        for column, row in np.ndindex(6, 4):
            at = (row, column)
            azimuth, elevation = np.arctan2(y[at], x[at]), np.arctan2(z[at], np.hypot(x[at], y[at]))
            file.write(f"{row},{raster.offset_ns[at] * 1e-9},{azimuth},{elevation}\n")
    table = Table.from_csv(path, rate_hz=5.0).rays()
    np.testing.assert_allclose(table.direction_S, raster.direction_S, atol=1e-7)
    np.testing.assert_array_equal(table.offset_ns, raster.offset_ns)


HEADER = "azimuth_deg,elevation_deg,time_s\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        (HEADER, "no ray"),
        ("azimuth_deg,time_s\n0,0\n", "line 1: a column is missing; .* elevation_deg or"),
        ("azimuth,elevation_deg,time_s\n0,0,0\n", "line 1: column 'azimuth' is unknown"),
        ("azimuth_deg,azimuth_rad,elevation_deg,time_s\n0,0,0,0\n", "line 1: .* again"),
        (HEADER + "0,0\n", "line 2: 2 cells"),
        (HEADER + "0,0,0\n\n0,zero,0\n", "line 4: elevation_deg is 'zero'; it must be a number"),
        (HEADER + "0,,0\n", "line 2: elevation_deg is ''"),
        (HEADER + "nan,0,0\n", "line 2: azimuth_deg is nan; it must be finite"),
        (HEADER + "0,0,1e999\n", "line 2: time_s is 1e999; it must be finite"),
        (HEADER + "0,91,0\n", r"line 2: elevation_deg is 91; .*\[-90, 90\]"),
        (HEADER + "0,0,0.02\n0,0,0.01\n", "line 3: time_s is 0.01; time must not decrease"),
        (HEADER + "0,0,0\n0,0,0.1\n", "time_s reaches 0.1"),
        ("row," + HEADER + "0.5,0,0,0\n", "line 2: row is 0.5; it must be a whole number"),
        ("row," + HEADER + "0,0,0,0\n1,0,0,0\n1,0,0,0\n", "row 1 of sweep 0 has 2 rays"),
    ],
)
def test_bad_file_names_itself_the_line_and_the_rule(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(SpecError, match=rf"bad\.csv.*{message}"):
        Table.from_csv(path, rate_hz=10.0)


def test_files_that_are_no_text_or_not_there(tmp_path):
    with pytest.raises(SpecError, match="no such file"):
        Table.from_csv(tmp_path / "none.csv", rate_hz=10.0)
    with pytest.raises(SpecError, match="no such file"):
        Table.from_csv(tmp_path, rate_hz=10.0)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00\x80" * 100)
    with pytest.raises(SpecError, match="not CSV in UTF-8"):
        Table.from_csv(binary, rate_hz=10.0)
    long_cell = tmp_path / "long.csv"
    long_cell.write_text("a" * 200_000)
    with pytest.raises(SpecError, match="not CSV in UTF-8"):
        Table.from_csv(long_cell, rate_hz=10.0)
