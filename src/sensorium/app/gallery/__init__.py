"""Example scenarios: a folder each, with `scenario.yaml` and the files it names."""

import difflib
import shutil
from pathlib import Path

from sensorium.core.errors import SpecError

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Names of the scenarios, in order."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/scenario.yaml")))


def titles() -> dict[str, str]:
    """Title of each scenario."""
    from sensorium.app.scenario.document import read_document

    return {name: str(read_document(path_of(name)).data.get("title", name)) for name in names()}


def path_of(name: str) -> Path:
    """The file of a scenario of the gallery."""
    return FOLDER / name / "scenario.yaml"


def scenario_file(file: str) -> Path:
    """The file that a user means: a path, or the name of a scenario of the gallery where no such file exists."""
    path = Path(file)
    if path.is_dir() and (path / "scenario.yaml").is_file():
        return path / "scenario.yaml"
    if path.is_file() or file not in names():
        if not path.is_file():
            near = difflib.get_close_matches(file, names(), n=1)
            hint = f"did you mean {near[0]!r} of the gallery?" if near else "`sensorium gallery` lists them"
            raise SpecError(f"FILE is {file!r}; there is no such file, and no scenario of that name; {hint}")
        return path
    return path_of(file)


def copied(folder: Path) -> list[Path]:
    """Copy all scenarios with their files into a folder; existing copies are an error."""
    for name in names():
        if (folder / name).exists():
            raise SpecError(f"--copy is {str(folder)!r}, where {name!r} exists already; it must be a new name")
    for name in names():
        shutil.copytree(FOLDER / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return [folder / name / "scenario.yaml" for name in names()]
