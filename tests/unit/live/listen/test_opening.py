"""Receivers by name."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.live.listen.opening import RECEIVERS, receiver
from sensorium.live.listen.receiver import Receiver
from sensorium.live.opening import loaded


@pytest.mark.parametrize("name", RECEIVERS)
def test_every_receiver_of_the_table_exists(name):
    kind = RECEIVERS[name]
    assert issubclass(loaded(kind.options), Spec)
    made = loaded(kind.receiver)
    assert issubclass(made, Receiver)
    assert made.suffix.startswith(".")


def test_unknown_paths_and_options_are_refused():
    with pytest.raises(SpecError, match="PATH is 'foxgluv'; it must be one of foxglove"):
        receiver("foxgluv", {})
    with pytest.raises(SpecError, match="prt"):
        receiver("foxglove", {"prt": 1})


def test_no_server_is_one_sentence():
    with pytest.raises(SpecError, match=r"no Foxglove server answers at 127.0.0.1:1 .*start a run with --live fox"):
        receiver("foxglove", {"port": 1}).__enter__()
