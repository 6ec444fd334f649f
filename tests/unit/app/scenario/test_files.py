"""Files that a scenario names."""

import hashlib

import pytest

from sensorium.app.scenario.files import Files, sha256
from sensorium.core.errors import SpecError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inside" / "deep").mkdir(parents=True)
    (tmp_path / "inside" / "deep" / "a.txt").write_text("A")
    (tmp_path / "outside.txt").write_text("B")
    (tmp_path / "inside" / "link.txt").symlink_to(tmp_path / "outside.txt")
    return tmp_path / "inside"


def test_a_file_of_the_folder_is_found_and_remembered_with_its_hash(folder):
    files = Files(folder)
    assert files.path("deep/../deep/a.txt", "mesh") == (folder / "deep" / "a.txt").resolve()
    assert files.hashes() == {"deep/a.txt": hashlib.sha256(b"A").hexdigest()}
    assert sha256(folder / "deep" / "a.txt") == hashlib.sha256(b"A").hexdigest()


@pytest.mark.parametrize("name", ["../outside.txt", "link.txt", "/etc/passwd", "deep/../../outside.txt"])
def test_nothing_leads_out_unless_it_is_allowed(folder, name):
    with pytest.raises(SpecError, match="it must lie in the scenario's folder") as refused:
        Files(folder).path(name, "mesh")
    assert refused.value.problems[0][0] == ("mesh",)
    assert Files(folder, allow_outside=True).path(name, "mesh").is_file()


@pytest.mark.parametrize(
    ("name", "words"), [("no.txt", "no such file"), ("deep", "no such file"), ("a\0b", "no file name")]
)
def test_what_is_no_file_is_said(folder, name, words):
    with pytest.raises(SpecError, match=words):
        Files(folder).path(name, "mesh")
