"""Two ways to look for inputs that break a promise: guided by branches, or by chance alone.

atheris (libFuzzer) takes over its process, so that each reader gets one; it stops at the first find and is begun again
until the time is over. What it found stays in a folder, one file a find, by the place where it broke.
"""

import hashlib
import random
import re
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.mutation import MOST_BYTES, mutated
from fuzz.promise import BrokenPromise, check
from fuzz.reader import Reader


@dataclass
class Outcome:
    """How a search went.

    Attributes:
        name: Of the reader.
        executions: Inputs tried.
        seconds: How long.
        finds: What was found: the last line of an error, by file of its input.
    """

    name: str
    executions: int = 0
    seconds: float = 0.0
    finds: dict[Path, str] = field(default_factory=dict)

    def __str__(self) -> str:
        rate = self.executions / max(self.seconds, 1e-9)
        lines = [f"{self.name:<20} {self.executions:>9} inputs {rate:>8.0f} /s {self.seconds:>6.0f} s"]
        lines[0] += f" {len(self.finds)} broken"
        return "\n".join([*lines, *(f"    {path}: {what}" for path, what in self.finds.items())])


def mutating(
    reader: Reader, folder: Path, out: Path, *, seconds: float, inputs: int | None = None, seed: int
) -> Outcome:
    """Search by chance: valid files, made wrong.

    Args:
        reader: Whose promise.
        folder: To work in.
        out: Where inputs that break it are written.
        seconds: How long.
        inputs: How many, however long they take: the same ones on every machine.
        seed: Of the chance.
    """
    rng, outcome = random.Random(seed), Outcome(reader.name)
    seeds = reader.seeds(folder)
    pool, began_s, known = list(seeds), time.monotonic(), set[str]()
    while outcome.seconds < seconds if inputs is None else outcome.executions < inputs:
        outcome.seconds = time.monotonic() - began_s
        data = mutated(rng.choice(pool), rng, reader.words, seeds)
        outcome.executions += 1
        try:
            is_read = check(reader, data, folder)
        except BrokenPromise as error:
            note(outcome, known, error, data, out)
            continue

        # What was still read is a step further away from what everybody tests
        if is_read and len(pool) < 1000:
            pool.append(data)
    return outcome


def note(outcome: Outcome, known: set[str], error: BrokenPromise, data: bytes, out: Path) -> None:
    """Write the input that broke a promise, once for each place."""
    place = place_of(error)
    if place in known:
        return
    known.add(place)
    path = out / f"{hashlib.sha256(place.encode()).hexdigest()[:12]}.bin"
    if not path.exists() or path.stat().st_size > len(data):
        path.write_bytes(data)
    outcome.finds[path] = f"{error} (at {place})"[:400]


def place_of(error: BaseException) -> str:
    """Where in the code an error comes from: of the innermost error, file and line of its last frame."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{type(error).__name__} {Path(frames[-1].filename).name}:{frames[-1].lineno}"
    return f"{place} {str(error)[:60]}" if isinstance(error, BrokenPromise) else place


def guided(reader: Reader, folder: Path, out: Path, *, seconds: float) -> Outcome:
    """Search guided by branches, in a process of its own.

    Args:
        reader: Whose promise.
        folder: To work in.
        out: Where inputs that break it are written.
        seconds: How long.
    """
    outcome, began_s = Outcome(reader.name), time.monotonic()
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(reader.seeds(folder)):
        (corpus / f"seed-{number}").write_bytes(data)
    log = out / "log.txt"
    while (left_s := seconds - (time.monotonic() - began_s)) >= 1.0:
        command = [sys.executable, "-m", "fuzz.guided", reader.name, str(folder), str(out), str(corpus)]
        command += [f"-max_total_time={int(left_s)}", f"-max_len={MOST_BYTES}", "-timeout=120", "-rss_limit_mb=4096"]
        command += [f"-artifact_prefix={out}/", "-print_final_stats=1", "-verbosity=1"]
        with log.open("wb") as file:
            done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
        text = log.read_text("utf-8", "replace")
        told = re.findall(r"stat::number_of_executed_units:\s+(\d+)", text)
        outcome.executions += int(told[-1]) if told else 0
        for line in re.findall(r"^FIND (.*)$", text, re.MULTILINE):
            path, _, what = line.partition(" ")
            outcome.finds[Path(path)] = what
        for path in re.findall(r"Test unit written to (\S+/(?:crash|oom|timeout)-\S+)", text):
            outcome.finds[Path(path)] = "the process ended: see log.txt beside it"
        if done.returncode != 0 and not outcome.finds:
            outcome.finds[log] = f"the process ended with {done.returncode}"
        if done.returncode != 0:
            break
    outcome.seconds = time.monotonic() - began_s
    return outcome
