"""Folders that are written: locked against other processes, and cleared of nothing but what their writer wrote."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sensorium.core.errors import SpecError
from sensorium.files.owned_folders import MARK, begin, check_removable, finish, held, remove

HOLDER = """
import sys
from pathlib import Path
from sensorium.files.owned_folders import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def holder(folder):
    """Another process that holds a folder until it is told to end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def own(path):
    return path.suffix == ".own"


def test_one_process_holds_a_folder_and_the_second_is_told_which(tmp_path):
    other = holder(tmp_path / "out")
    with pytest.raises(SpecError, match=rf"out', which process {other.pid} on \S+ is writing"), held(tmp_path / "out"):
        pytest.fail("two processes hold one folder")
    with held(tmp_path / "another"):
        pass
    other.communicate("\n")
    with held(tmp_path / "out"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_process_that_is_killed_holds_nothing(tmp_path):
    other = holder(tmp_path / "out")
    other.send_signal(signal.SIGKILL)
    other.communicate()
    with (
        held(tmp_path / "out"),
        pytest.raises(SpecError, match=f"process {os.getpid()} on"),
        held(tmp_path / "out"),
    ):
        pytest.fail("two holders in one process")
    assert not list(tmp_path.iterdir())


def test_folders_above_are_made_and_go_again_where_they_stay_empty(tmp_path):
    with held(tmp_path / "a" / "b" / "out"):
        assert (tmp_path / "a" / "b").is_dir()
    assert not list(tmp_path.iterdir())
    with held(tmp_path / "a" / "b" / "out"):
        (tmp_path / "a" / "kept").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["kept"]


@pytest.mark.parametrize("kind", ["file", "fifo", "folder"])
def test_a_file_of_the_user_where_the_lock_would_be_is_left_alone(tmp_path, kind):
    path = tmp_path / ".out.sensorium-lock"
    if kind == "file":
        path.write_text("dear")
    else:
        os.mkfifo(path) if kind == "fifo" else path.mkdir()
    with pytest.raises(SpecError, match=r"not ours|cannot be locked"), held(tmp_path / "out"):
        pytest.fail("it was taken")
    assert path.exists()
    assert kind != "file" or path.read_text() == "dear"


def test_a_link_where_the_lock_would_be_is_not_followed(tmp_path):
    (tmp_path / "mine").write_text("")
    (tmp_path / ".out.sensorium-lock").symlink_to(tmp_path / "mine")
    with pytest.raises(SpecError, match="cannot be locked"), held(tmp_path / "out"):
        pytest.fail("it was taken")
    assert (tmp_path / "mine").read_text() == ""


def test_a_marked_folder_is_begun_again_and_nothing_else(tmp_path):
    begin(tmp_path / "x", own)
    (tmp_path / "x" / "deep").mkdir()
    (tmp_path / "x" / "deep" / "a.own").touch()
    begin(tmp_path / "x", own)
    assert [path.name for path in (tmp_path / "x").rglob("*")] == [MARK]

    (tmp_path / "x" / "deep").mkdir()
    (tmp_path / "x" / "deep" / "mine.txt").touch()
    with pytest.raises(SpecError, match=r"holds 'deep/mine\.txt', which no run wrote"):
        begin(tmp_path / "x", own)
    (tmp_path / "x" / MARK).unlink()
    with pytest.raises(SpecError, match="is not ours"):
        begin(tmp_path / "x", own)
    assert (tmp_path / "x" / "deep" / "mine.txt").is_file()


def test_removing_keeps_what_came_in_the_meantime(tmp_path):
    folder = tmp_path / "x"
    begin(folder, own)
    (folder / "a.own").touch()
    (folder / "sub").mkdir()
    (folder / "sub" / "mine.txt").touch()
    remove(folder, own)
    assert [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()] == [Path("sub/mine.txt")]


def test_links_are_removed_by_nobody(tmp_path):
    (tmp_path / "mine").mkdir()
    for name in (MARK, "a.own"):
        (tmp_path / "mine" / name).touch()
    (tmp_path / "x").symlink_to(tmp_path / "mine")
    with pytest.raises(SpecError, match="is not ours"):
        check_removable(tmp_path / "x", own)
    remove(tmp_path / "x", own)
    assert (tmp_path / "mine" / "a.own").exists()

    begin(tmp_path / "y", own)
    (tmp_path / "y" / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(SpecError, match="holds 'link'"):
        check_removable(tmp_path / "y", own)
    remove(tmp_path / "y", own)
    assert (tmp_path / "mine" / "a.own").exists()


class Killed(BaseException):
    """The process ends here: nothing after it happens, as after SIGKILL."""


def kill_at(monkeypatch, count):
    """The process ends at the so-manieth change of the disk."""
    left = [count]

    def counted(function):
        def wrapped(*arguments, **options):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return function(*arguments, **options)

        return wrapped

    for name in ("mkdir", "touch", "unlink", "rmdir", "rename"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))


def write(work, folder):
    begin(work, own)
    for name in ("a.own", "b.own", "sub"):
        (work / "sub").mkdir(exist_ok=True) if name == "sub" else (work / name).touch()
    (work / "sub" / "c.own").touch()
    remove(folder, own)
    finish(work, folder)


@pytest.mark.parametrize("before", [False, True])
def test_a_writer_that_is_killed_anywhere_leaves_nothing_in_the_way_of_the_next(tmp_path, monkeypatch, before):
    work, folder = tmp_path / "out.part", tmp_path / "out"
    for count in range(100):
        if before:  # what an earlier writer left is removed first, and killed there
            begin(work, own)
            (work / "x.own").touch()
        with monkeypatch.context() as patch:
            kill_at(patch, count)
            try:
                write(work, folder)
            except Killed:
                done = False
            else:
                done = True
        write(work, folder)
        assert sorted(path.name for path in folder.rglob("*")) == ["a.own", "b.own", "c.own", "sub"], count
        assert not work.exists()
        if done:
            break
    assert 10 < count < 99


def test_a_folder_that_a_user_fills_is_not_ours_and_an_empty_one_is_no_loss(tmp_path):
    (tmp_path / "x").mkdir()
    begin(tmp_path / "x", own)
    assert [path.name for path in (tmp_path / "x").iterdir()] == [MARK]
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "a.own").touch()  # by its name it could be ours
    with pytest.raises(SpecError, match="is not ours"):
        begin(tmp_path / "y", own)
    (tmp_path / "z").touch()
    with pytest.raises(SpecError, match="is not ours"):
        begin(tmp_path / "z", own)
