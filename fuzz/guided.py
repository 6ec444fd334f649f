"""One reader under atheris: the process that `fuzz.engine.guided` starts.

Finds do not end it: each is written once, and the search goes on. Only the modules that a reader names are watched,
function by function, since kernels that Numba compiles must stay as they are.
"""

import importlib
import inspect
import random
import sys
from pathlib import Path
from types import ModuleType

import atheris

from fuzz.engine import Outcome, note
from fuzz.mutation import mutated
from fuzz.promise import BrokenPromise, check
from fuzz.readers import READERS


def _watch(module: ModuleType) -> None:
    """Make all functions of a module tell which branches they take."""
    for each in list(vars(module).values()):
        functions = list(vars(each).values()) if inspect.isclass(each) and each.__module__ == module.__name__ else [each]
        for function in functions:
            plain = getattr(function, "__func__", getattr(function, "fget", function))
            if inspect.isfunction(plain) and plain.__module__ == module.__name__:
                atheris.instrument_func(plain)


def main() -> None:
    """Search until libFuzzer's options say stop."""
    name, folder, out, corpus, *options = sys.argv[1:]
    reader, outcome, known = READERS[name], Outcome(name), set[str]()
    seeds = reader.seeds(Path(folder))
    for module in reader.modules:
        _watch(importlib.import_module(module))

    def attempt(data: bytes) -> None:
        try:
            check(reader, data, Path(folder))
        except BrokenPromise as error:
            before = len(outcome.finds)
            note(outcome, known, error, data, Path(out))
            if len(outcome.finds) > before:
                path, what = list(outcome.finds.items())[-1]
                print(f"FIND {path} {what!r}", flush=True)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        """Half by libFuzzer's own mistakes, half by ours, which know the format."""
        if seed % 2:
            return atheris.Mutate(data, most)[:most]
        return mutated(data, random.Random(seed), reader.words, seeds)[:most]

    atheris.Setup([sys.argv[0], *options, corpus], attempt, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
