from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import rows


def test_no_two_quantities_share_a_row():
    words = {"COLUMN", "MATERIAL", "RAY", "NODE", "MIRROR", "MEDIUM", "BEYOND", "LEFT_COLUMN", "LEFT_FACE"}
    words |= {"MARK", "PARENTS"}
    own = {name: value for name, value in vars(rows).items() if name.isupper() and isinstance(value, int)}
    sizes = {"FLOATS", "WORDS", "BLOCK", "BLOCK_FLOATS", "BLOCK_WORDS", "PARENT_COUNT"}
    floats = [value for name, value in own.items() if name not in words | sizes]
    assert len(floats) == len(set(floats)) > 20
    assert sorted(floats) == list(range(pk.BLOCK_FLOATS, rows.FLOATS, BLOCK))
    integers = [own[name] for name in words]
    assert sorted(integers) == list(range(pk.BLOCK_WORDS, rows.WORDS - 2, BLOCK))  # room for one more, and how many
    assert rows.PARENT_COUNT == rows.PARENTS + BLOCK + 1 == rows.WORDS - 1


def test_scratch_holds_them_all():
    block, hit = rows.new_scratch()
    assert (block.shape, hit.shape) == ((rows.FLOATS,), (rows.WORDS,))
    assert (block.dtype.name, hit.dtype.name) == ("float32", "uint32")
