"""The family of recordings without its folder, and the page that is written from them."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.qa.validation import reality, run_check
from sensorium.qa.validation.laws import recordings
from sensorium.qa.validation.laws.recordings import RECORDED, RECORDINGS
from sensorium.recordings.compare.comparison import Comparison, Row
from sensorium.recordings.measurement import Figure, Measurement


def test_checks_are_skipped_by_name_without_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SENSORIUM_RECORDINGS", str(tmp_path / "nowhere"))
    recordings._recording.cache_clear()
    for check in RECORDINGS.checks:
        result = run_check(check, quick=True)
        assert result.verdict == "skipped"
        name = check.name.partition("-")[2]
        assert result.reason == f"{RECORDED[name][0]} is not in the folder of recordings, nowhere"


def test_shares_of_what_is_allowed():
    """15 % of 10 mm, or as far as intervals reach towards each other, whatever is more; 1 is the limit of both."""

    def figure(value, half):
        return Figure("noise", value, "m", value - half, value + half, 9)

    rows = (
        Row(figure(10.0, 0.1), figure(11.5, 0.1), 0.15),
        Row(figure(10.0, 2.0), figure(13.0, 1.0), 0.15),
        Row(figure(10.0, 0.1), figure(7.0, 0.1), 0.15),
    )
    found = Comparison("x", Measurement("lidar", "X", "f", ()), Measurement("lidar", "X", "s", ()), rows, ("how",))
    assert recordings._placed(found, ("noise",)).found == pytest.approx([1.0, 1.0, -2.0])
    assert [row.verdict for row in rows] == ["agrees", "agrees", "differs"]


def test_a_page_without_marks_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("nothing")
    for section in ("lidars", "others"):
        with pytest.raises(SpecError, match=f"has no marks of the table: <!-- recorded {section}"):
            reality.main(str(tmp_path / "page.md"), section)
    with pytest.raises(SpecError, match="section is 'x'; it must be one of lidars, others"):
        reality.main(str(tmp_path / "page.md"), "x")
