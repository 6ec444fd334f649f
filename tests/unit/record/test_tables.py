"""Tables as CSV: bits come back, and what a killed process leaves can be read."""

import csv
import math

import pytest

from sensorium.record.tables import CsvTable, ParquetTable

COLUMNS = {"time_ns": int, "value": float, "valid": bool}
NUMBERS = [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.pi]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_numbers_come_back_to_the_bit_and_true_is_1(tmp_path):
    table = CsvTable(tmp_path / "t.csv", COLUMNS)
    for k, number in enumerate(NUMBERS):
        table.add([k, number, k % 2 == 0])
    table.add([9_007_199_254_740_993, None, False])
    table.close()
    header, *rows = rows_of(tmp_path / "t.csv")
    assert header == list(COLUMNS)
    assert [math.copysign(1, float(row[1])) * abs(float(row[1])) for row in rows[:-1]] == NUMBERS
    assert math.copysign(1, float(rows[1][1])) == -1
    assert [row[2] for row in rows] == ["1", "0", "1", "0", "1", "0"]
    assert rows[-1] == ["9007199254740993", "", "0"]


def test_until_it_is_closed_it_is_a_part_that_can_be_read(tmp_path):
    table = CsvTable(tmp_path / "t.csv", COLUMNS)
    table.add([1, 2.5, True])
    table.flush()
    assert not (tmp_path / "t.csv").exists()
    assert rows_of(tmp_path / "t.csv.part") == [list(COLUMNS), ["1", "2.5", "1"]]
    table.close()
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


pyarrow = pytest.importorskip("pyarrow")


def test_types_and_bits_come_back_over_many_batches(tmp_path):
    from pyarrow import parquet

    table = ParquetTable(tmp_path / "t.parquet", COLUMNS)
    rows = [[k, 0.1 * k, k % 3 == 0] for k in range(1000)] + [[1000, None, False]]
    for row in rows:
        table.add(row)
        table.flush()
    table.close()
    found = parquet.read_table(tmp_path / "t.parquet")
    assert found.schema.names == list(COLUMNS)
    assert [str(kind) for kind in found.schema.types] == ["int64", "double", "bool"]
    assert [list(row.values()) for row in found.to_pylist()] == rows
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_what_a_killed_process_leaves_is_read_batch_by_batch(tmp_path):
    from pyarrow import ipc

    table = ParquetTable(tmp_path / "t.parquet", COLUMNS)
    for k in range(600):
        table.add([k, float(k), True])
        table.flush()
    with (tmp_path / "t.parquet.part").open("rb") as part:
        stream = ipc.open_stream(part)
        times = [time for _ in range(2) for time in stream.read_next_batch()["time_ns"].to_pylist()]
    assert times == list(range(512))
    assert not (tmp_path / "t.parquet").exists()
    table.close()
