"""The table of what has been held against hardware: one for the page and for the documentation."""

from pathlib import Path

from sensorium.qa.validation.hardware import HELD, hardware_rows, hardware_table
from sensorium.qa.validation.laws.recordings import LIDARS, OTHERS

DOCS = Path(__file__).parents[4] / "docs"


def test_the_documentation_ends_with_the_table():
    assert (DOCS / "validation.md").read_text(encoding="utf-8").endswith(f"\n\n{hardware_table()}\n")


def test_every_recorded_device_is_listed_and_no_other():
    words = ", ".join(device for device, _, _ in HELD)
    names = [device.removesuffix(" scanner") for _, device, _ in (*LIDARS.values(), *OTHERS.values())]
    assert [name for name in names if name not in words] == []


def test_rows_have_three_cells_each():
    assert all(len(row) == 3 and all(row) for row in hardware_rows())
    assert [row[1] for row in hardware_rows()].count("nothing") >= 10
