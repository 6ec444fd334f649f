"""Options of the Foxglove server, as in `live.foxglove` of a scenario file."""

from typing import Annotated

from pydantic import Field

from sensorium.core.spec import Spec


class FoxgloveOptions(Spec):
    """A WebSocket server that Foxglove connects to."""

    host: str = "127.0.0.1"
    """Address that it listens on; other machines reach it only if one of this machine's, or 0.0.0.0, is named here."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    """Port; 0 lets the operating system choose one."""
    scene: bool = True
    """Whether the objects of the scene are sent as scene entities, on the topic /scene."""
    control: bool = True
    """Whether clients may pause, step, reset and speed up the run, and change sensors by parameters."""
    backlog: Annotated[int, Field(ge=1, le=65536)] = 128
    """Most messages that wait for one slow client; the server drops its oldest then."""
