"""Values of a sheet: what is refused, and what is told where nothing is known."""

import pytest

from sensorium.devices import EncoderSheet, ImuSheet, LidarSheet, MagnetometerSheet, Quantity
from sensorium.errors import SpecError

HEAD = {"maker": "Nobody", "model": "X", "description": "for a test", "sources": {"DS": "data sheet"}}


def value(number, unit="1", grade="A", source="DS", **fields):
    return {"value": number, "unit": unit, "grade": grade, "source": source, **fields}


def lidar(**values):
    needed = {"elevation": value([1.0, -1.0], "deg"), "rotation_rate": value(10.0, "Hz"), "columns": value(100)}
    return LidarSheet.model_validate({**HEAD, "scan": "spinning", **needed, **values})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"grade": "M"}, "M is an estimate and marked so"),
        ({"estimate": True}, "M is an estimate and marked so"),
        ({"grade": "M", "estimate": True}, "source is 'DS'; a value needs one, an estimate has none"),
        ({"source": None}, "source is None; a value needs one"),
        ({"grade": "Z"}, "grade is 'Z'"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_value_without_its_origin_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        Quantity.model_validate(value(1.0) | fields)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_range": value(100.0, "kg")}, "unit is 'kg'"),
        ({"max_range": value(100.0, "s")}, "unit is 's'; it must be one of m"),
        ({"max_range": value("far", "m")}, "max_range.value is 'far'; it must be a number"),
        ({"direction": value(1.0)}, "direction.value is 1.0; it must be a word"),
        ({"divergence": value(3.0, "mrad")}, "divergence.means is None; it must be one of: full, full 1/e\\^2"),
        ({"max_range": value(1.0, "m", means="full")}, "max_range.means is 'full'; there is no doubt"),
        (
            {"max_range": value(1.0, "m", source="BOOK: 3")},
            "source is 'BOOK: 3'; it must begin with a key of sources: DS",
        ),
        ({"maximum_range": value(1.0, "m")}, "LidarSheet.maximum_range"),
        ({"step": value(1.0, "deg")}, "columns and step is given; one of firing_period, columns and step must be"),
        ({"columns": None}, "nothing is given; one of firing_period"),
        ({"elevation": None}, "elevation is missing; scan 'spinning' cannot do without"),
    ],
)
def test_a_sheet_that_breaks_a_rule_names_it(values, message):
    with pytest.raises(SpecError, match=message):
        lidar(**values)


def test_what_is_unknown_stays_away_and_is_named():
    sheet = lidar()
    assert set(sheet.specification()) == {"kind", "mode", "pattern"}
    assert {"max_range_m", "noise.base_m", "beam.half_divergence_rad", "pattern.time_offset_s"} <= set(sheet.defaults())
    known = lidar(max_range=value(100.0, "m"), range_noise=value(2.0, "cm", means="1 sigma"))
    assert not {"max_range_m", "noise.base_m"} & set(known.defaults())


def test_precision_comes_before_accuracy():
    accuracy = value(3.0, "cm", means="limits")
    assert lidar(range_accuracy=accuracy).specification()["noise"] == {"base_m": pytest.approx(0.0173205, rel=1e-5)}
    both = lidar(range_accuracy=accuracy, range_noise_slope=value(0.5, "mm/m", means="1 sigma"))
    assert both.specification()["noise"] == {"slope": 5e-4}


def test_columns_follow_from_a_firing_period_or_a_step():
    by_time = lidar(columns=None, firing_period=value(55.296, "us")).specification()["pattern"]
    assert by_time["columns"] == 1808  # 0.1 s / 55.296 us = 1808.4
    by_step = lidar(columns=None, step=value(0.2, "deg")).specification()["pattern"]
    assert by_step["columns"] == 1800
    sector = lidar(columns=None, step=value(0.25, "deg"), horizontal_fov=value(270.0, "deg")).specification()["pattern"]
    assert sector["columns"] == 1081
    assert (sector["azimuth_min_deg"], sector["azimuth_max_deg"]) == (-135.0, 135.0)


def test_times_count_from_the_first_channel():
    pattern = lidar(channel_time=value([-5.0, -12.0], "us")).specification()["pattern"]
    assert pattern["time_offset_s"] == pytest.approx((7e-6, 0.0))


def test_offsets_of_beams():
    up = value([1.0, 2.0], "mm", means="along z")
    assert lidar(vertical_offset=up).specification()["pattern"]["origin_offset_m"] == ((0, 0, 1e-3), (0, 0, 2e-3))

    # Square to a beam that looks 30 degrees up: half of it goes back. Turned by 90 degrees, left becomes back
    elevation = value([30.0, 0.0], "deg")
    across = value([0.2, 0.0], "m", means="across the beam")
    origin = lidar(elevation=elevation, vertical_offset=across).specification()["pattern"]["origin_offset_m"]
    assert origin[0] == pytest.approx((-0.1, 0.0, 0.1732051), abs=1e-6)
    turned = lidar(
        azimuth_offset=value([90.0, 0.0], "deg", means="counterclockwise"), horizontal_offset=value([0.03, 0.03], "m")
    ).specification()["pattern"]["origin_offset_m"]
    assert turned[0] == pytest.approx((-0.03, 0.0, 0.0), abs=1e-9)
    assert turned[1] == pytest.approx((0.0, 0.03, 0.0), abs=1e-9)


def imu(**values):
    return ImuSheet.model_validate({**HEAD, "angular": values})


def test_a_random_walk_is_a_two_sided_density():
    walk = value(0.15, "deg/sqrt(h)")
    noise = imu(random_walk=walk).specification()["angular"]["noise"]
    assert noise == {"density": pytest.approx(6.17067e-5, rel=1e-5), "sided": "one"}
    density = value(0.003, "deg/s/sqrt(Hz)", means="one-sided")
    assert imu(random_walk=walk, density=density).specification()["angular"]["noise"]["density"] == pytest.approx(
        5.23599e-5
    )


def test_groups_without_values_are_not_there():
    fields = imu(range=value(500.0, "deg/s")).specification()
    assert fields["linear"] is None
    assert fields["magnetic"] is None
    assert fields["angular"]["sat"] == {"min": pytest.approx(-8.726646), "max": pytest.approx(8.726646)}
    assert "angular.noise.density" in imu(range=value(500.0, "deg/s")).defaults()


def test_white_noise_is_given_once():
    both = {"noise": value(2.0, "mG", means="1 sigma"), "density": value(1.0, "mG/sqrt(Hz)", means="one-sided")}
    with pytest.raises(SpecError, match="white noise has one or the other"):
        MagnetometerSheet.model_validate({**HEAD, **both})


def test_a_group_refuses_the_unit_of_another():
    with pytest.raises(SpecError, match="unit is 'mg'; it must be one of rad/s"):
        imu(range=value(1.0, "mg"))


def test_an_encoder_counts_four_edges_a_period():
    fields = EncoderSheet.model_validate(
        {**HEAD, "resolution": value(500, "counts/rev", means="periods"), "tracks": value("quadrature")}
    ).specification()
    assert fields == {"kind": "encoder", "counts_per_turn": 2000, "quadrature": True}
