"""Files that appear whole or not at all."""

import os
import stat

import pytest

from sensorium.core.errors import RecordError, SpecError
from sensorium.files.atomic import replacing


def test_a_file_appears_when_it_is_complete_and_replaces_the_old_one(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("no bytes")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_disk_that_is_full_is_told_in_one_line(tmp_path):
    with (
        pytest.raises(RecordError, match=r"a\.bin' cannot be written: No space left on device$"),
        replacing(tmp_path / "a.bin"),
    ):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(SpecError, match="its folder does not exist"), replacing(tmp_path / "no" / "a.bin"):
        pass
    with pytest.raises(SpecError, match="a folder; it must be a file or a new name"), replacing(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_leave_to_write(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(SpecError, match="which cannot be written: Permission denied"), replacing(tmp_path / "a.bin"):
        pass


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "a.bin"
    with replacing(path) as one, replacing(path) as other:
        one.write(b"one")
        other.write(b"other")
    assert path.read_bytes() == b"one"  # the outer one ends last
    assert os.listdir(tmp_path) == ["a.bin"]
