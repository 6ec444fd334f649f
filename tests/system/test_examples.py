"""Every example runs as a user would run it and leaves what it promises; programs in the documentation run too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted(path.stem for path in EXAMPLES.glob("lidar_*.py"))

# Pictures that stand on the page of another
SECTIONS = {"lidar_curved_mirror": "lidar_mirror", "lidar_fog_banks": "lidar_fog"}

# Other pictures, each with the page that shows it; the wheel's numbers are looked at in a test of its own
PAGES = {
    "camera_auto_exposure": "camera.md",
    "camera_filters": "camera.md",
    "camera_mirror": "camera.md",
    "camera_photon_transfer": "camera.md",
    "camera_faults": "corruption.md",
    "camera_spots": "camera.md",
    "camera_stages": "camera.md",
    "cone_accuracy": "cone-sensor.md",
    "cone_obstacles": "cone-sensor.md",
    "cone_speed": "cone-sensor.md",
    "corruptions": "corruption.md",
    "custom_range_finder": "custom-sensors.md",
    "custom_tof": "custom-sensors.md",
    "custom_ultrasonic": "custom-sensors.md",
    "depth_camera": "depth-camera.md",
    "depth_device_noise": "depth-errors.md",
    "depth_forest": "depth-errors.md",
    "device_scans": "devices.md",
    "drones_in_a_forest": "learning.md",
    "fault_onsets": "corruption.md",
    "imu": "inertial.md",
    "imu_from_recording": "inertial.md",
    "live_yard": "live.md",
    "mujoco_pendulum": "inertial.md",
    "adaptive_cruise": "radar.md",
    "radar_angles": "radar.md",
    "radar_laws": "radar.md",
    "wheel_odometry": "inertial.md",
}


# Packages of extras that no other test needs
NEEDS = {"drones_in_a_forest": "gymnasium", "live_yard": "foxglove"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in [*PICTURES, *PAGES] if name != "wheel_odometry"])
def test_an_example_leaves_its_picture_and_says_what_it_found(name, tmp_path, program):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    printed = program(EXAMPLES / f"{name}.py", tmp_path).stdout
    assert any(character.isdigit() for character in printed)
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    picture = Image.open(tmp_path / f"{name}.png").convert("RGB")
    assert min(picture.size) > 500
    assert len(picture.getcolors(picture.width * picture.height)) > 100


def test_the_first_scan_leaves_its_points(tmp_path):
    """In a process of its own, as a user starts it."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "first_scan.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert "nearest" in done.stdout
    assert (tmp_path / "first_scan.ply").stat().st_size > 10_000


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_has_its_page_and_every_page_its_picture(name):
    of = SECTIONS.get(name, name).removeprefix("lidar_")
    page = (DOCS / "lidar" / f"{of}.md").read_text()
    assert f"../images/lidar/{name}.png" in page
    assert f"python examples/{name}.py" in page
    assert (DOCS / "images" / "lidar" / f"{name}.png").is_file()
    assert f"({of}.md)" in (DOCS / "lidar" / "README.md").read_text()


@pytest.mark.parametrize("name", PAGES)
def test_every_other_picture_is_on_its_page_with_its_command(name):
    page = (DOCS / PAGES[name]).read_text()
    assert f"(images/{name}.png)" in page
    assert f"python examples/{name}.py" in page
    assert (DOCS / "images" / f"{name}.png").is_file()


# What the gallery is made with: tests/system/test_gallery.py looks at the drive; pictures of whole runs take minutes
OF_THE_GALLERY = {"record_drive", "gallery_pictures"}


def test_no_example_is_forgotten():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"first_scan", *PICTURES, *PAGES, *OF_THE_GALLERY}


# Its programs join the cluster that tests share
OF_CLUSTERS = "docs/cluster.md"

PAGES_WITH_PROGRAMS = [f"docs/{page.name}" for page in sorted(DOCS.glob("*.md")) if "```python" in page.read_text()]


@pytest.mark.parametrize("page", ["README.md", *(page for page in PAGES_WITH_PROGRAMS if page != OF_CLUSTERS)])
def test_programs_in_the_documentation_run(page, tmp_path, program):
    program(programs_of(page, tmp_path), tmp_path)


@pytest.mark.slow
def test_programs_of_the_page_on_clusters_run(local_cluster, tmp_path, program):
    assert OF_CLUSTERS in PAGES_WITH_PROGRAMS
    program(programs_of(OF_CLUSTERS, tmp_path), tmp_path)


def programs_of(page, folder):
    """One file of all programs of a page, which follow on each other."""
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS.parent / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    if page == "docs/allan.md":  # the log that it reads is made at its end
        blocks = [blocks[-1].replace("4 * 3600.0", "900.0"), *blocks[:-1]]
    file = folder / "page.py"
    file.write_text("\n\n".join(blocks))
    return file


def test_every_link_of_the_documentation_leads_somewhere():
    for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md")):
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
            linked = page if not target else (page.parent / target).resolve()
            assert linked.exists(), f"{page.name} links to {target}"
            if anchor:
                headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
                anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
                assert anchor in anchors, f"{page.name} links to {target}#{anchor}"
