"""The wheel's example runs as a user would run it, and its numbers are those of the motion it draws."""

import re
from pathlib import Path

import pytest
from PIL import Image

EXAMPLE = Path(__file__).parents[2] / "examples" / "wheel_odometry.py"


def test_the_example_leaves_its_picture_and_true_numbers(tmp_path, program):
    done = program(EXAMPLE, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["wheel_odometry.png"]
    picture = Image.open(tmp_path / "wheel_odometry.png").convert("RGB")
    assert min(picture.size) > 500
    assert len(picture.getcolors(picture.width * picture.height)) > 100

    # Distances agree to a bin of 9.42 mm, and interpolated edges tell a constant speed
    numbers = [float(text) for text in re.findall(r"-?\d+\.\d+", done.stdout)]
    ends, way, reads, total = numbers[:4]
    assert 0.0 <= ends - reads < 0.00943
    assert total == pytest.approx(way, abs=0.00943)
    assert re.search(r"edges interpolated: 0\.000 mrad/s", done.stdout)
