"""Files that a scenario names: they must be in its folder, and are recorded with their hashes."""

from pathlib import Path

from sensorium.core.spec import at_key
from sensorium.files.plain_files import sha256


class Files:
    """The folder of a scenario, and which of its files were used."""

    def __init__(self, folder: Path, *, allow_outside: bool = False) -> None:
        """Take a folder.

        Args:
            folder: Paths in the scenario begin here.
            allow_outside: Whether they may be outside it.
        """
        self.folder = folder.resolve()
        self.allow_outside = allow_outside
        self._used: set[Path] = set()

    def path(self, name: str, key: str) -> Path:
        """The file of a name, which must exist in the folder; it is recorded as used.

        Args:
            name: Path from the folder.
            key: The key that has the name as its value, for errors.
        """
        found = self._inside(name, key)
        if not found.is_file():
            raise at_key(key, f"{key} is {name!r}; there is no such file")
        self.use(found)
        return found

    def folder_of(self, name: str, key: str) -> Path:
        """The folder of a name, which must exist in the scenario's folder; arguments as for `path`."""
        found = self._inside(name, key)
        if not found.is_dir():
            raise at_key(key, f"{key} is {name!r}; there is no such folder")
        return found

    def use(self, path: Path) -> None:
        """Record a file that is used without being named in the scenario itself, such as one that a model includes."""
        self._used.add(path.resolve())

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file used so far, by its path from the folder."""
        return {self._named(path): sha256(path) for path in sorted(self._used)}

    def _inside(self, name: str, key: str) -> Path:
        """The path of a name, if it is allowed."""
        try:
            found = (self.folder / name).resolve()
        except (OSError, ValueError) as error:
            raise at_key(key, f"{key} is {name!r}; that is no file name: {error}") from None
        if not self.allow_outside and not found.is_relative_to(self.folder):
            rule = "it must lie in the scenario's folder, or be allowed by --allow-outside"
            raise at_key(key, f"{key} is {name!r}; {rule}")
        return found

    def _named(self, path: Path) -> str:
        inside = path.is_relative_to(self.folder)
        return path.relative_to(self.folder).as_posix() if inside else path.as_posix()
