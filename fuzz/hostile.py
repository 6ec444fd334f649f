"""Files that somebody made to exhaust a machine, each with the memory and processor time that reading it may take.

python -m fuzz.hostile              # read each in a process of its own and print what it took
python -m fuzz.hostile mjcf-hfield  # one of them
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parents[1]

_PATIENCE_S = 120.0
"""After which a process that waits, such as for a pipe, is ended."""


@dataclass(frozen=True)
class Hostile:
    """A file that asks for too much.

    Attributes:
        name: What it is called here.
        make: Writes it into a folder, with what it refers to; returns the file to read.
        read: Reads it, as its users do.
        says: What the refusal says, as a regular expression; empty where the file is read after all.
        memory_bytes: Most memory that reading it may take, besides what the process holds already.
        cpu_s: Most processor time, whatever the size [s], on a slow machine.
        cpu_us_a_byte: More of it for each byte of the files [us].
    """

    name: str
    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    says: str
    memory_bytes: int = 1 << 26
    cpu_s: float = 5.0
    cpu_us_a_byte: float = 20.0


@dataclass(frozen=True)
class Figures:
    """What reading a file took.

    Attributes:
        file_bytes: Bytes of the file and of all that lies in its folder.
        peak_bytes: Memory besides what the process held before.
        cpu_s: Processor time [s].
        said: The error's kind and message; empty where the file was read.
    """

    file_bytes: int
    peak_bytes: int
    cpu_s: float
    said: str


def measure(hostile: Hostile, folder: Path) -> Figures:
    """Read a hostile file in a process of its own."""
    path = hostile.make(folder)
    command = [sys.executable, "-m", "fuzz.hostile", "--inside", str(path), hostile.name]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    if done.returncode != 0:
        raise AssertionError(f"{hostile.name}: the process ended with {done.returncode}: {done.stderr[-500:]}")
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def broken(hostile: Hostile, figures: Figures) -> list[str]:
    """Which bounds reading a file did not keep."""
    most_s = hostile.cpu_s + 1e-6 * hostile.cpu_us_a_byte * figures.file_bytes
    wrong = []
    if figures.peak_bytes > hostile.memory_bytes:
        wrong.append(f"it took {figures.peak_bytes} bytes of memory; it may take {hostile.memory_bytes}")
    if figures.cpu_s > most_s:
        wrong.append(f"it took {figures.cpu_s:.2f} s; it may take {most_s:.2f}")
    if not (re.search(hostile.says, figures.said) if hostile.says else not figures.said):
        wrong.append(f"it said {figures.said!r}; it must say {hostile.says!r}")
    return wrong


def _inside(hostile: Hostile, path: Path) -> Figures:
    """Read a file in this process, which has imported all that its reader needs."""
    from sensorium.core.errors import SensoriumError

    with suppress(SensoriumError):
        hostile.read(path.with_name("missing"))
    files = [each for each in path.parent.rglob("*") if each.is_file()]
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
    held = _peak_bytes()
    before_s, said = time.process_time(), ""
    try:
        hostile.read(path)
    except SensoriumError as error:
        said = f"{type(error).__name__}: {error}"
    cpu_s = time.process_time() - before_s
    return Figures(sum(each.stat().st_size for each in files), _peak_bytes() - held, cpu_s, said)


def _peak_bytes() -> int:
    """Most memory that this process held at once."""
    status = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(re.findall(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)[0])


def main() -> int:
    """Print what each file took; the exit code is 1 where one took more than it may."""
    from fuzz.hostile_files import HOSTILE

    parser = argparse.ArgumentParser(prog="python -m fuzz.hostile")
    parser.add_argument("names", nargs="*", help="which; all by default")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    chosen = [each for each in HOSTILE if each.name in given.names or not given.names]
    if given.inside is not None:
        print(json.dumps(_inside(chosen[0], given.inside).__dict__))
        return 0
    failed = False
    for hostile in chosen:
        with tempfile.TemporaryDirectory() as work:
            figures = measure(hostile, Path(work))
        wrong = broken(hostile, figures)
        failed |= bool(wrong)
        sizes = f"{figures.file_bytes:9,} bytes {figures.peak_bytes / 1e6:7.1f} MB {figures.cpu_s:6.2f} s"
        print(f"{hostile.name:24} {sizes}  {'; '.join(wrong) or figures.said[:100] or 'read'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
