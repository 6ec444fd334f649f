"""Text of a sheet: what is written is read back."""

import tomllib

import numpy as np
import pytest

from sensorium.recordings.fit.sheet_text import sheet_text


def test_what_is_written_is_read_back():
    head = {"kind": "lidar", "model": 'a "strange" name', "notes": ["One.", "Two \\ three."], "sources": {"REC": "x"}}
    many = np.random.default_rng(0).normal(size=64).tolist()
    values = {
        "elevation": {"value": many, "unit": "deg", "source": "REC", "grade": "R"},
        "columns": {"value": 1024, "source": "REC", "grade": "R", "estimate": False},
        "range_noise": {
            "value": 0.0, "interval": [-1e-7, 2.5e7], "maker": {"value": 3.0, "unit": "cm"}, "grade": "R",
        },
    }  # fmt: skip
    text = sheet_text(head, values)
    assert max(map(len, text.splitlines())) <= 120
    read = tomllib.loads(text)
    assert read["elevation"].pop("value") == pytest.approx(many, rel=1e-7)
    values["elevation"].pop("value")
    assert read == {**head, **values}
