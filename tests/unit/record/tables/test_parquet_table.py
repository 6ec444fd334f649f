"""Tables as Parquet: types and bits come back, and a part that was cut off is an Arrow stream."""

import pytest

from sensorium.record.tables.parquet_table import ParquetTable

pyarrow = pytest.importorskip("pyarrow")

COLUMNS = {"time_ns": int, "value": float, "valid": bool}


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
