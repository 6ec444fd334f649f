"""The `live:` section of scenario files, which `--live` sets too."""

import functools
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from sensorium.core.field_docs import plain_doc
from sensorium.core.spec import Spec
from sensorium.live.opening import SINKS, options_of
from sensorium.live.sink import LiveSink
from sensorium.pacing import RunClock


class LiveOptions(Spec):
    """What a run sends to other programs while it goes on, and its pace."""

    speed: Annotated[float, Field(gt=0.0)] | None = 1.0
    """Simulated over real time; null steps as fast as possible."""
    paused: bool = False
    """Whether the run begins paused, and waits for a key or a service."""

    def clock(self) -> RunClock:
        """The clock of a run at this pace."""
        return RunClock(self.speed, paused=self.paused)

    def sinks(self) -> list[LiveSink]:
        """The requested sinks, not yet open."""
        given = {name: getattr(self, name) for name in SINKS}
        return [SINKS[name].make(options) for name, options in given.items() if options is not None]


def _defaults(value: object) -> object:
    """`true` as all defaults, and `false` as none."""
    return {} if value is True else None if value is False else value


@functools.cache
def live_model() -> type[LiveOptions]:
    """The model of the section, with a field for each sink of the library."""
    fields: dict[str, Any] = {}
    for name, kind in SINKS.items():
        options: Any = options_of(name)
        written = Annotated[options | None, BeforeValidator(_defaults, json_schema_input_type=bool | options | None)]
        fields[name] = (written, Field(default=None, description=f"{kind.title}; true for all defaults."))
    model: type[LiveOptions] = create_model("Live", __base__=LiveOptions, __doc__=plain_doc(LiveOptions), **fields)
    return model
