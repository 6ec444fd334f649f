"""Prints the lowest versions that pyproject.toml allows of each package that the library needs, one a line."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
for requirement in project["dependencies"]:
    match = re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)(,<[0-9.]+)?", requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} says no lowest version; it must be name>=version")
    print(f"{match[1]}=={match[2]}")
