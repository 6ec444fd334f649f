from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.geometry import rows


def test_no_two_quantities_share_a_row():
    sizes = {"FLOATS", "WORDS", "BLOCK", "BLOCK_FLOATS", "BLOCK_WORDS", "COLUMN"}
    own = {name: value for name, value in vars(rows).items() if name.isupper() and name not in sizes}
    assert sorted(own.values()) == list(range(pk.BLOCK_FLOATS, rows.FLOATS, BLOCK))
    assert (rows.COLUMN, rows.WORDS) == (pk.BLOCK_WORDS, pk.BLOCK_WORDS + BLOCK)
