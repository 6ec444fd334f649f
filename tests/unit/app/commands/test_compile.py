"""`sensorium compile`: what it refuses, and the kernels that it leaves in a folder."""

import pytest

from sensorium.app.commands import compile as command
from sensorium.app.commands.compile import compile_kernels
from sensorium.core.errors import BackendError, SpecError
from sensorium.runtime import kernel_folders

LEVEL = kernel_folders.LEVELS[-1].name

KERNEL = """
from sensorium.runtime import jit

@jit.kernel
def twice(x):
    return 2 * x

assert twice(3) == 6
"""


def test_levels_are_refused_that_are_unknown_or_that_the_cpu_does_not_run(tmp_path, monkeypatch):
    with pytest.raises(SpecError, match=r"level is 'x86-64-v9'; it must be one of x86-64-v4, x86-64-v3"):
        compile_kernels(["x86-64-v9"])
    with pytest.raises(SpecError, match="it is for levels"):
        compile_kernels(None, into=tmp_path)
    monkeypatch.setattr(kernel_folders, "runs_on_this_cpu", lambda level: False)
    with pytest.raises(SpecError, match="which this machine's CPU does not run"):
        compile_kernels([LEVEL])


@pytest.mark.skipif(not kernel_folders.runs_on_this_cpu(kernel_folders.LEVELS[-1]), reason="this CPU runs no level")
def test_what_runs_compile_is_left_in_the_folder_and_earlier_kernels_go(tmp_path, monkeypatch):
    (tmp_path / "twice_of_test.py").write_text(KERNEL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(command, "_commands", lambda folder: iter([["twice_of_test"]]))
    folder = tmp_path / "pre" / LEVEL
    folder.mkdir(parents=True)
    (folder / "old.nbi").touch()
    (folder / "notes.txt").touch()
    compile_kernels([LEVEL], into=tmp_path / "pre")
    found = sorted(path.name.split("-")[0] for path in folder.iterdir())
    assert found == ["notes.txt", "twice_of_test.twice", "twice_of_test.twice"]

    monkeypatch.setattr(command, "_commands", lambda folder: iter([["no_such_module_of_test"]]))
    with pytest.raises(BackendError, match="'no_such_module_of_test' failed while kernels were compiled"):
        compile_kernels([LEVEL], into=tmp_path / "pre")
    assert sorted(path.name.split("-")[0] for path in folder.iterdir()) == found
