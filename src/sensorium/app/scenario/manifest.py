"""The manifest of a run: everything needed to repeat it, and the hashes that show whether a repetition is the same."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.core.versions import installed_versions
from sensorium.files.atomic import replacing
from sensorium.files.owned_folders import MARK
from sensorium.files.plain_files import read_json, sha256

NAME = "manifest.json"
FORMAT = 2


@dataclass(frozen=True)
class Figures:
    """Statistics of a run.

    Attributes:
        steps: Steps of its world.
        simulated_s: Simulated time [s].
        real_s: Real time [s].
        readings: How many each sensor gave.
        live: Of a live run, how far it was behind its pace at most [s], and the counts of each sink.
    """

    steps: int
    simulated_s: float
    real_s: float
    readings: dict[str, int]
    live: dict[str, Any] | None = None


@dataclass(frozen=True)
class Manifest:
    """A finished run.

    Attributes:
        scenario: The scenario as it was run, options of the command line included, as plain data.
        folder: The scenario's folder, as a path from the manifest's own folder, or absolute.
        inputs: SHA-256 of each file that the scenario used, by its path from the scenario's folder.
        outputs: SHA-256 of each file that depends only on scenario, inputs and versions, by its path.
        views: Files about the run itself, such as its duration; they differ from run to run.
        versions: Of Sensorium, Python and the packages that may change a number.
        machine: Processor and system.
        run: How it went, as in `Figures`.
        format: Of the manifest.
    """

    scenario: dict[str, Any]
    folder: str
    inputs: dict[str, str]
    outputs: dict[str, str] = field(default_factory=dict)
    views: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=installed_versions)
    machine: str = field(default_factory=lambda: f"{platform.machine()} {platform.system()}")
    run: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def identity(self) -> str:
        """Hash of all inputs of a run; two runs with the same hash are the same run."""
        decides = {
            "scenario": self.scenario,
            "folder": self.folder,
            "inputs": self.inputs,
            "versions": self.versions,
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def save(self, folder: Path) -> None:
        """Write it into a run's folder."""
        with replacing(folder / NAME) as file:
            file.write((json.dumps(asdict(self) | {"identity": self.identity}, indent=2) + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """Read the manifest of a run.

        Args:
            path: The file.
        """
        data = read_json(path)
        names = set(cls.__dataclass_fields__)
        if not isinstance(data, dict) or not names <= set(data):
            missing = ", ".join(sorted(names - set(data if isinstance(data, dict) else ())))
            raise SpecError(f"{path.name} is no manifest of a run; it lacks {missing}")
        if data["format"] != FORMAT:
            raise SpecError(f"{path.name} has format {data['format']!r}; this version reads {FORMAT}")
        manifest: Manifest = checked(cls, {name: data[name] for name in names}, path.name)
        if data.get("identity") != manifest.identity:
            raise SpecError(f"{path.name} was changed since its run; its identity is no longer that of what it holds")
        checked(Figures, manifest.run, f"{path.name}.run")
        return manifest

    def scenario_folder(self, path: Path, allowed: Sequence[Path] | None = None) -> Path:
        """The scenario's folder; a manifest is untrusted, so the folder must be in an allowed place.

        Args:
            path: Where this manifest was read from.
            allowed: Folders of which one must contain it, links followed; None allows every folder.
        """
        try:
            folder = (path.resolve().parent / self.folder).resolve()
            is_folder = folder.is_dir()
        except (OSError, ValueError) as error:
            raise SpecError(f"{path.name}: folder is {self.folder!r}; that is no folder name: {error}") from None
        if allowed is not None and not any(folder.is_relative_to(each.resolve()) for each in allowed):
            raise SpecError(
                f"{path.name}: folder is {self.folder!r}, which is {str(folder)!r}; it must lie in the folder that "
                "the manifest is run from, or be allowed by --allow-outside"
            )
        if not is_folder:
            raise SpecError(f"{path.name}: folder is {self.folder!r}; there is no such folder")
        return folder


def hashed(folder: Path, leave_out: list[str]) -> dict[str, str]:
    """SHA-256 of all files below a folder by their path from it, in order, but not of the mark of its writer."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MARK)
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: sha256(path) for name, path in names.items() if name not in leave_out}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of files that are in one only, or whose hashes differ."""
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
