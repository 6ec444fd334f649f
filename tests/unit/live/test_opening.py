"""Sinks by name."""

import pytest

import sensorium as sn
from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.core.spec import Spec
from sensorium.live.opening import SINKS, options_of


@pytest.mark.parametrize("name", SINKS)
def test_every_sink_of_the_table_exists_and_listens_on_loopback_by_default(name):
    kind, options = SINKS[name], options_of(name)
    assert issubclass(options, Spec)
    for field in ("host", "address"):
        if field in options.model_fields:
            assert options.model_fields[field].default in ("127.0.0.1", "::1", "localhost", None)
    module, _, sink = kind.sink.partition(":")
    assert hasattr(__import__(module, fromlist=[sink]), sink)


def test_a_missing_package_is_named_with_the_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"needs foxglove; pip install 'sensorium\[live\]'"):
        sn.live.open_sink("foxglove")


def test_options_are_checked():
    with pytest.raises(SpecError, match="port is 70000"):
        sn.live.open_sink("foxglove", port=70000)
    with pytest.raises(SpecError, match="prt"):
        sn.live.open_sink("foxglove", prt=1)
