"""Reads .rrd files back, by Rerun's own reader."""

import numpy as np
import pytest
import rerun.chunk


def _columns(path, entity, component):
    """Times [ns] and values of one component of one entity, in order of time; time None is for all times."""
    rows = []
    for chunk in rerun.chunk.RrdReader(str(path)).stream():
        if chunk.entity_path != entity:
            continue
        batch = chunk.to_record_batch()
        if component not in batch.schema.names:
            continue
        values = batch.column(component).to_pylist()
        times = [None] * len(values) if chunk.is_static else batch.column("sim_time").cast("int64").to_pylist()
        rows += [(t, np.array(v)) for t, v in zip(times, values, strict=True) if v is not None]
    return sorted(rows, key=lambda row: -1 if row[0] is None else row[0])


@pytest.fixture
def columns():
    """Reads an entity's component."""
    return _columns


@pytest.fixture
def entities():
    """Names all entities of a file."""
    return lambda path: {chunk.entity_path for chunk in rerun.chunk.RrdReader(str(path)).stream()}
