"""Commands as bytes, as they arrive."""

import pytest

from sensorium.live.ros2.commands import Commands
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message


@pytest.fixture
def order():
    """Gives a command to the topic of a name and type, as CDR; returns the topic."""

    def give(commands: Commands, topic: str, kind: str, fields: dict):
        found = [one for one in commands.topics if (one.name, one.kind) == (topic, kind)]
        assert len(found) == 1, [one.name for one in commands.topics]
        commands.receive(found[0], cdr.encoded(Message(kind, 0, fields)))
        return found[0]

    return give
