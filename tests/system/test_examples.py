"""Every example runs as a user would run it, and leaves what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted(path.stem for path in EXAMPLES.glob("lidar_*.py"))


def run(name: str, folder: Path) -> str:
    """Run an example in a folder of its own; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", EXAMPLES / f"{name}.py"],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PICTURES)
def test_an_example_leaves_its_picture_and_says_what_it_found(name, tmp_path):
    printed = run(name, tmp_path)
    assert any(character.isdigit() for character in printed)
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    picture = Image.open(tmp_path / f"{name}.png").convert("RGB")
    assert min(picture.size) > 500
    assert len(picture.getcolors(picture.width * picture.height)) > 100


def test_the_first_scan_leaves_its_points(tmp_path):
    assert "nearest" in run("first_scan", tmp_path)
    assert (tmp_path / "first_scan.ply").stat().st_size > 10_000


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_has_its_page_and_every_page_its_picture(name):
    page = (DOCS / "lidar" / f"{name.removeprefix('lidar_')}.md").read_text()
    assert f"../images/lidar/{name}.png" in page
    assert f"python examples/{name}.py" in page
    assert (DOCS / "images" / "lidar" / f"{name}.png").is_file()
    assert f"({name.removeprefix('lidar_')}.md)" in (DOCS / "lidar" / "README.md").read_text()
