"""A table that grows row by row, as CSV."""

import os
from collections.abc import Mapping
from pathlib import Path

Cell = int | float | bool | None


class CsvTable:
    """Writes rows to `<path>.part`, which becomes the file when it is closed.

    Numbers are written so that reading them gives the same bits; true and false are 1 and 0, and None is empty. Each
    `flush` hands rows to the operating system, so that a killed process leaves a valid CSV file up to there.
    """

    def __init__(self, path: Path, columns: Mapping[str, type]) -> None:
        """Begin a table with these columns: name and type."""
        self._path, self._part = path, path.with_name(f"{path.name}.part")
        self._file = self._part.open("w", encoding="ascii", newline="")
        self._file.write(",".join(columns) + "\n")

    def add(self, row: list[Cell]) -> None:
        """Add a row, a cell for each column."""
        self._file.write(",".join(map(_text, row)) + "\n")

    def flush(self) -> None:
        """Hand the added rows to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Put the file in its place."""
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())
        os.replace(self._part, self._path)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return repr(cell) if isinstance(cell, float) else str(int(cell))
