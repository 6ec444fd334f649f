"""The command: tries readers one after the other, each for some seconds or for a number of inputs."""

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path

from fuzz.engine import guided, mutating
from fuzz.readers import READERS

_IN_MEMORY = "/dev/shm"  # every input is a file, which a disk would make slow


def main() -> int:
    """Run the command; returns how many readers broke their promise."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help="which; by default all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each")
    parser.add_argument("--inputs", type=int, help="for each, instead of --seconds, without atheris: always the same")
    parser.add_argument("--seed", type=int, default=0, help="of the mutator without atheris")
    parser.add_argument("--engine", choices=("auto", "atheris", "plain"), default="auto")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="folder for inputs that broke a promise")
    parser.add_argument("--list", action="store_true", help="tell the names of all readers")
    given = parser.parse_args()
    if given.list:
        print("\n".join(READERS))
        return 0
    unknown = [name for name in given.readers if name not in READERS]
    if unknown:
        parser.error(f"there is no reader {unknown[0]!r}; --list names them")
    if not 0.0 < given.seconds < float("inf"):
        parser.error(f"--seconds is {given.seconds:g}; it must be positive and finite")
    if given.inputs is not None and given.inputs < 1:
        parser.error(f"--inputs is {given.inputs}; it must be 1 or more")
    engine = "plain" if given.inputs is not None and given.engine == "auto" else given.engine
    if engine == "atheris" and given.inputs is not None:
        parser.error("--inputs cannot be counted with --engine atheris; give --seconds")
    if engine == "auto":
        engine = "atheris" if importlib.util.find_spec("atheris") else "plain"

    broken = 0
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if Path(_IN_MEMORY).is_dir() else None) as work:
        for name in given.readers or READERS:
            reader, out = READERS[name], given.out / name
            out.mkdir(parents=True, exist_ok=True)
            folder = Path(work) / name
            folder.mkdir()
            if engine == "atheris":
                outcome = guided(reader, folder, out, seconds=given.seconds)
            else:
                outcome = mutating(reader, folder, out, seconds=given.seconds, inputs=given.inputs, seed=given.seed)
            print(outcome, flush=True)
            broken += bool(outcome.finds)
    return broken


if __name__ == "__main__":
    sys.exit(main())
