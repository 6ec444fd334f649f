"""Every reader of files that the library has, by name."""

from fuzz.reader import Reader
from fuzz.readers import lidars, measured, meshes, recordings, robots, runs, scenarios, sheets, tables

_MODULES = (meshes, scenarios, sheets, recordings, lidars, measured, tables, runs, robots)

READERS: dict[str, Reader] = {reader.name: reader for module in _MODULES for reader in module.READERS}
