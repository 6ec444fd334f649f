from sensorium.physics.materials import row as mr
from sensorium.sensors.lidar.scan import Cause
from sensorium.tracing.kernels.light import tables as tb


def entries(prefix, without=()):
    return {name: value for name, value in vars(tb).items() if name.startswith(prefix) and name not in without}


def test_every_entry_has_a_place_of_its_own():
    for prefix, size in (
        ("M_", tb.MATERIAL_COLUMNS),
        ("G_", tb.MEDIUM_COLUMNS),
        ("N_", tb.NUMBERS),
        ("S_", tb.SWITCHES),
    ):
        assert sorted(entries(prefix).values()) == list(range(size)), prefix


def test_kinds_of_material_are_those_of_the_rows():
    assert (tb.SURFACE, tb.DIELECTRIC, tb.PANE) == (mr.SURFACE, mr.DIELECTRIC, mr.PANE)


def test_causes_have_the_names_users_see():
    names = {Cause.NONE: tb.NO_CAUSE, Cause.SURFACE: tb.BY_SURFACE, Cause.REFLECTION: tb.BY_REFLECTION}
    names |= {Cause.TRANSMISSION: tb.BY_TRANSMISSION, Cause.ATMOSPHERE: tb.BY_ATMOSPHERE}
    names |= {Cause.MIXED: tb.BY_MIXTURE, Cause.FALSE_ALARM: tb.BY_FALSE_ALARM}
    names |= {Cause.SATURATED: tb.BY_SATURATION, Cause.BLOOM: tb.BY_BLOOM}
    names |= {Cause.FOLDED: tb.BY_FOLDING, Cause.CROSSTALK: tb.BY_CROSSTALK}
    assert all(int(cause) == number for cause, number in names.items())
    assert len(names) == len(Cause) - 1  # faults come after the kernel
