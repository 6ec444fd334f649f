"""RINEX 3 observations: text that the test writes comes back; broken lines are named."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.readers.rinex import read_rinex_observations

TYPES = {"G": ("C1C", "L1C", "S1C"), "R": ("C1C", "L1C", "S1C")}


def line(text, label):
    return f"{text:<60}{label}\n"


def header(types=TYPES):
    text = line("     3.04           OBSERVATION DATA    M", "RINEX VERSION / TYPE")
    text += line("3605054             SEPT MOSAIC-X5      4.14.4", "REC # / TYPE / VERS")
    for system, names in types.items():
        for k in range(0, len(names), 13):
            first = f"{system}  {len(names):3d}" if k == 0 else "      "
            text += line(first + "".join(f" {name}" for name in names[k : k + 13]), "SYS / # / OBS TYPES")
    text += line("  2 R01  1 R02 -4", "GLONASS SLOT / FRQ #")
    return text + line("", "END OF HEADER")


def field(value, lock=" "):
    return " " * 16 if np.isnan(value) else f"{value:14.3f}{lock}7"


def epoch(k, rows, seconds=0.0):
    text = f"> 2024 06 24 08 {20 + k // 60:2d} {k % 60 + seconds:10.7f}  0{len(rows):3d}\n"
    return text + "".join(f"{name}{''.join(fields)}\n" for name, fields in rows)


def write(path, observed, types=TYPES):
    """Of each epoch, a value for each satellite and type."""
    text = header(types)
    for k, satellites in enumerate(observed):
        text += epoch(k, [(name, [field(value) for value in values]) for name, values in satellites.items()])
    path.write_text(text)
    return path


def test_values_come_as_they_were_written(tmp_path):
    rng = np.random.default_rng(1)
    observed = [
        {name: np.round(rng.uniform(1e3, 4e7, 3), 3) for name in ("G05", "G31", "R02") if rng.random() < 0.8}
        for _ in range(90)
    ]
    observed[7] = {"G05": np.array([2e7, np.nan, 40.0])}
    found = read_rinex_observations(write(tmp_path / "a.obs", observed))
    assert (found.receiver, found.slots, found.types) == ("SEPT MOSAIC-X5", {"R01": 1, "R02": -4}, TYPES)
    np.testing.assert_allclose(found.time_s, np.arange(90))
    for arc in found.arcs:
        rows = {k: satellites[arc.satellite] for k, satellites in enumerate(observed) if arc.satellite in satellites}
        assert arc.epoch.tolist() == list(rows)
        np.testing.assert_allclose(arc.values, np.array(list(rows.values())), atol=1e-3)
        assert not arc.lost_lock.any()


def test_more_types_than_a_line_has_events_and_lost_lock(tmp_path):
    types = {"G": tuple(f"{kind}{band}C" for band in "12567" for kind in "CLDS")[:17]}
    text = header(types) + epoch(0, [("G05", [field(1.0 + k) for k in range(17)])])
    text += ">                              4  2\nCOMMENT\nCOMMENT\n"
    text += epoch(1, [("G05", [field(2.0, "1"), field(3.0, "0"), " " * 16])], seconds=0.5)
    (tmp_path / "a.obs").write_text(text)
    (arc,) = read_rinex_observations(tmp_path / "a.obs").arcs
    np.testing.assert_array_equal(arc.values[0], 1.0 + np.arange(17))
    assert arc.lost_lock[1].tolist() == [True] + [False] * 16
    assert np.isnan(arc.values[1, 2:]).all()
    assert read_rinex_observations(tmp_path / "a.obs").time_s.tolist() == [0.0, 1.5]


ONE = epoch(0, [("G05", [field(2e7), field(1e8), field(40.0)])])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no end of its header"),
        (header().replace("3.04", "2.11"), "must be RINEX 3 of observations"),
        (header().replace("OBSERVATION", "NAVIGATION "), "must be RINEX 3 of observations"),
        (header().replace("G    3", "G    4"), "has 3 types of system 'G'; it claims 4"),
        (header().replace("G    3", "X    3"), "must give 1 to 200 types of a system"),
        (header(), "has no observations"),
        (header() + "G05\n", "an epoch must begin with '>'"),
        (header() + ONE.replace("2024 06", "2024 16"), "it must be year to second"),
        (header() + ONE + ONE, "times must rise"),
        (header() + ONE.replace("G05", "E05"), "begins with 'E05'; it must name a satellite"),
        (header() + ONE.replace("20000000.000", "2000000x.000"), "'2000000x.000' for C1C; it must be a number"),
        (header() + ONE.replace("20000000.000", "         inf"), "'inf' for C1C; it must be below 1e13"),
        (header() + ONE.replace("  0  1", "  0 99"), "must name a satellite"),
        (header() + ONE.replace("  0  1", "  0  x"), "it must be a whole number"),
        (header() + ONE[:36] + 30_000 * "1", "characters; it may have"),
    ],
)
def test_a_broken_file_is_refused_in_one_sentence(tmp_path, text, says):
    (tmp_path / "a.obs").write_text(text)
    with pytest.raises(SpecError, match=says):
        read_rinex_observations(tmp_path / "a.obs")


def test_a_satellite_twice_and_bytes_are_refused(tmp_path):
    rows = ONE.partition("\n")[2]
    (tmp_path / "a.obs").write_text(header() + ONE.replace("  0  1", "  0  2") + rows)
    with pytest.raises(SpecError, match="names G05 again"):
        read_rinex_observations(tmp_path / "a.obs")
    (tmp_path / "a.obs").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="not text in ASCII"):
        read_rinex_observations(tmp_path / "a.obs")
