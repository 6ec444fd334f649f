"""Tables that grow row by row: CSV, and Parquet, which needs pyarrow (the extra `parquet`)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sensorium.core.errors import MissingExtraError
from sensorium.files.atomic import replacing

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


# Rows that are written at once during the run, and rows of one group of the final file
_ROWS_AT_ONCE = 256
_ROWS_OF_A_GROUP = 1 << 17


class ParquetTable:
    """Writes rows to `<path>.part`, of which a Parquet file is made when it is closed.

    Parquet has its directory at the end, so that a file that was cut off is lost. The partial file is an Arrow stream
    instead, written 256 rows at a time: `pyarrow.ipc.open_stream` reads the file of a killed process, batch by batch.
    """

    def __init__(self, path: Path, columns: Mapping[str, type]) -> None:
        """Begin a table with these columns: name and type."""
        self._path, self._part = path, path.with_name(f"{path.name}.part")
        pyarrow = require_pyarrow()
        kinds = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
        self._schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
        self._rows: list[list[Cell]] = []
        self._file = self._part.open("wb", buffering=0)
        self._stream = pyarrow.ipc.new_stream(self._file, self._schema)

    def add(self, row: list[Cell]) -> None:
        """Add a row, a cell for each column."""
        self._rows.append(row)

    def flush(self) -> None:
        """Hand the added rows to the operating system, if there are enough."""
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._write_rows()

    def close(self) -> None:
        """Make the Parquet file."""
        import pyarrow
        from pyarrow import ipc, parquet

        if self._rows:
            self._write_rows()
        self._stream.close()
        self._file.close()
        with replacing(self._path) as file, self._part.open("rb") as part:
            batches: list[Any] = []
            with parquet.ParquetWriter(file, self._schema) as writer:
                for batch in ipc.open_stream(part):
                    batches.append(batch)
                    if len(batches) * _ROWS_AT_ONCE >= _ROWS_OF_A_GROUP:
                        writer.write_table(pyarrow.Table.from_batches(batches))
                        batches.clear()
                if batches:
                    writer.write_table(pyarrow.Table.from_batches(batches))
        self._part.unlink()

    def _write_rows(self) -> None:
        import pyarrow

        columns = zip(*self._rows, strict=True)
        arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        self._stream.write_batch(pyarrow.record_batch(arrays, schema=self._schema))
        self._rows.clear()


def require_pyarrow() -> Any:
    """The package, or the error that says how to get it."""
    try:
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow; pip install 'sensorium[parquet]'") from None
    return pyarrow
