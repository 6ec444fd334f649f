"""Tables as CSV: bits come back, and what a killed process leaves can be read."""

import csv
import math

from sensorium.record.tables.csv_table import CsvTable

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
