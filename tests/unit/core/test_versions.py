"""What software there is: the hash of the source sees every byte and every name."""

import shutil
import subprocess
import sys
from pathlib import Path

from sensorium.core import versions

CODE = "import sys; sys.path.insert(0, sys.argv[1]); from sensorium.core import versions; print(versions.source_hash())"


def hash_of(folder):
    return subprocess.run([sys.executable, "-c", CODE, folder], capture_output=True, text=True, check=True).stdout


def test_the_hash_sees_what_changed(tmp_path):
    copy = tmp_path / "sensorium"
    shutil.copytree(Path(versions.__file__).parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
    same = hash_of(tmp_path)
    assert same.strip() == versions.source_hash()
    (copy / "core/units.py").write_text((copy / "core/units.py").read_text() + "\n# more\n")
    patched = hash_of(tmp_path)
    (copy / "core/frames.py").rename(copy / "core/frames2.py")
    assert len({same, patched, hash_of(tmp_path)}) == 3


def test_versions_name_python_and_what_is_installed():
    found = versions.installed_versions()
    assert found["python"].split(".")[:2] == [str(part) for part in sys.version_info[:2]]
    assert {"numpy", "numba", "llvmlite", "pydantic"} <= set(found)
