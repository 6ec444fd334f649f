"""The row kernels read: every place named once, and the same codes as the optics that use it."""

import numpy as np

from sensorium.physics.materials import row as layout
from sensorium.physics.materials.base import MAX_TRANSPARENT_K
from sensorium.physics.optics.surfaces import layers

PLACES = (
    *("KIND", "N", "K", "R0", "ALPHA2", "C", "ON_A0", "ON_A1", "ON_B", "LAYERING", "PLASTIC_N2", "PLASTIC_FI"),
    *("RETRO", "RETRO_Q", "PANE_OPL", "PANE_TAU", "FIXED_R", "INNER_INDEX"),
)


def test_each_place_is_used_once():
    assert sorted(getattr(layout, place) for place in PLACES) == list(range(layout.ROW_SIZE))


def test_codes_agree_with_the_optics():
    assert layout.LAYERINGS == layers.LAYERINGS
    assert MAX_TRANSPARENT_K == layers.OPAQUE_EXTINCTION


def test_a_blank_row_returns_no_light():
    row = layout.blank_row()
    fields = (layout.N, layout.K, layout.R0, layout.ALPHA2, layout.C, layout.ON_A0, layout.ON_A1, layout.ON_B)
    passage = (layout.LAYERING, layout.PLASTIC_N2, layout.PLASTIC_FI)
    for cos_theta in (0.0, 0.5, 1.0):
        assert layers.monostatic(cos_theta, *row[[*fields, *passage]]) == 0.0
    assert row[layout.RETRO] == 0.0
    assert row[layout.KIND] == layout.SURFACE
    assert row[layout.FIXED_R] < 0.0
    assert np.isfinite(row).all()
