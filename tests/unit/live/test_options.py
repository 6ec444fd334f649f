"""The section `live:` of a scenario file."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.foxglove.sink import FoxgloveSink
from sensorium.live.opening import SINKS
from sensorium.live.options import live_model


def test_every_sink_is_a_field_that_true_switches_on():
    model = live_model()
    assert set(SINKS) <= set(model.model_fields)
    assert model().sinks() == []
    assert model(foxglove=False).sinks() == []
    assert model(foxglove=None).sinks() == []
    (sink,) = model(foxglove=True).sinks()
    assert isinstance(sink, FoxgloveSink)
    (sink,) = model(foxglove={"port": 9000}).sinks()
    assert sink._options.port == 9000


def test_the_pace_is_real_time_unless_it_is_given():
    assert live_model()().clock().speed == 1.0
    assert live_model()(speed=None).clock().speed is None
    assert live_model()(speed=0.5, paused=True).clock().paused
    with pytest.raises(SpecError, match="speed is 0"):
        live_model()(speed=0)


def test_unknown_sinks_are_refused():
    with pytest.raises(SpecError, match="foxgluv"):
        live_model()(foxgluv=True)
