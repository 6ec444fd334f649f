"""Parameters and services by which clients control a run and change its sensors."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.pacing import RunClock
from sensorium.sensors.common.attached import AttachedSensor

Value = bool | float


@dataclass(frozen=True)
class _Parameter:
    """A value that clients see and may change.

    Attributes:
        get: The value now; called on any thread.
        set: Changes it; called on a thread of the server, with a value of the right type. None if it cannot be changed.
        rule: What a value must be.
    """

    get: Callable[[], Value]
    set: Callable[[Any], None] | None
    rule: str


class RunControl:
    """What clients may change while a run goes on.

    Parameters: `run.paused`, `run.speed` (0 is as fast as possible), `run.behind_s` (which cannot be set); for each
    sensor `sensors.NAME.enabled`, `sensors.NAME.faults.FAULT` and, where its chain of errors has white noise,
    `sensors.NAME.white_noise_scale`. Services: /sensorium/pause, resume, step, reset, without arguments, in JSON.
    Other errors are fixed when a sensor is attached; setting one is refused by name.
    """

    def __init__(self, env: Environment, clock: RunClock, refuse: Callable[[str], None]) -> None:
        """Take the run.

        Args:
            env: The environment, with all its sensors.
            clock: Controls the run; sensors are changed between its steps.
            refuse: Tells clients why a request was refused.
        """
        self._clock, self._refuse = clock, refuse
        self._server: Any = None
        self._table = dict(_of_run(clock))
        for sensor in env.sensors.values():
            self._table |= _of_sensor(env, clock, sensor)

    def begin(self, server: Any) -> None:
        """The server runs."""
        self._server = server

    def parameters(self, names: Iterable[str]) -> list[Any]:
        """Parameters with their values; of no names, all."""
        from foxglove import Parameter

        wanted = list(names) or list(self._table)
        return [Parameter(name, value=self._table[name].get()) for name in wanted if name in self._table]

    def set_parameters(self, parameters: Iterable[Any]) -> list[Any]:
        """Set parameters; returns them as they are from the next step on."""
        from foxglove import Parameter

        answers = []
        for given in parameters:
            value = given.get_value()
            try:
                answers.append(Parameter(given.name, value=self.set(given.name, value)))
            except SpecError as error:
                self._refuse(str(error))
                if given.name in self._table:
                    answers.append(Parameter(given.name, value=self._table[given.name].get()))
        return answers

    def set(self, name: str, value: object) -> Value:
        """Set one parameter; what it is from the next step on."""
        parameter = self._table.get(name)
        if parameter is None:
            known = ", ".join(self._table)
            raise SpecError(f"parameter {name!r} cannot change while a run goes on; those that can are {known}")
        if parameter.set is None:
            raise SpecError(f"parameter {name!r} cannot be set; it is what the run reports")
        if isinstance(parameter.get(), bool) != isinstance(value, bool) or not _is_value(value):
            raise SpecError(f"parameter {name!r} is {value!r}; it must be {parameter.rule}")
        assert isinstance(value, bool | int | float)
        parameter.set(value)
        return value

    def services(self) -> list[Any]:
        """Services for the server."""
        from foxglove import MessageSchema, Schema, Service, ServiceSchema

        empty = json.dumps({"type": "object", "properties": {}}).encode()
        answer = {"type": "object", "properties": {"paused": {"type": "boolean"}, "time_s": {"type": "number"}}}
        schema = ServiceSchema(
            "sensorium/RunControl",
            request=MessageSchema(encoding="json", schema=Schema(name="Empty", encoding="jsonschema", data=empty)),
            response=MessageSchema(
                encoding="json",
                schema=Schema(name="RunState", encoding="jsonschema", data=json.dumps(answer).encode()),
            ),
        )
        clock = self._clock
        actions = {"pause": clock.pause, "resume": clock.resume, "step": clock.single_step, "reset": clock.reset}
        return [
            Service(f"/sensorium/{name}", schema=schema, handler=self._handler(action))
            for name, action in actions.items()
        ]

    def _handler(self, action: Callable[[], object]) -> Callable[[Any], bytes]:
        def handle(request: Any) -> bytes:
            action()
            self._server.publish_parameter_values(self.parameters(["run.paused"]))
            return json.dumps({"paused": self._clock.paused, "time_s": self._clock.time_ns * 1e-9}).encode()

        return handle


def _is_value(value: object) -> bool:
    """Whether it is true or false, or a finite number that is not negative."""
    return isinstance(value, bool | int | float) and 0.0 <= value < float("inf")


def _of_run(clock: RunClock) -> Iterable[tuple[str, _Parameter]]:
    def set_speed(speed: float) -> None:
        clock.speed = speed or None

    paused = _Parameter(lambda: clock.paused, lambda on: clock.pause() if on else clock.resume(), "true or false")
    yield "run.paused", paused
    yield "run.speed", _Parameter(lambda: clock.speed or 0.0, set_speed, "0 (no limit) or a positive number")
    yield "run.behind_s", _Parameter(lambda: clock.behind_s, None, "")


def _of_sensor(env: Environment, clock: RunClock, sensor: AttachedSensor[Any]) -> dict[str, _Parameter]:
    prefix = f"sensors.{sensor.name}"

    def later(change: Callable[[Any], None]) -> Callable[[Any], None]:
        return lambda value: clock.call(lambda: change(value))

    def enable(on: bool) -> None:
        sensor.enabled = on

    def scale(factor: float) -> None:
        sensor.white_noise_scale = factor

    found = {f"{prefix}.enabled": _Parameter(lambda: sensor.enabled, later(enable), "true or false")}
    for fault, specified in zip(sensor.faults.names, sensor.spec.faults.faults, strict=True):
        if specified.on:
            found[f"{prefix}.faults.{fault}"] = _Parameter(
                lambda fault=fault: sensor.faults.active(fault),  # type: ignore[misc]
                later(lambda on, fault=fault: sensor.faults.switch(fault, on, env.time_ns)),  # type: ignore[misc]
                "true or false",
            )
    if sensor.white_noise_scale is not None:
        found[f"{prefix}.white_noise_scale"] = _Parameter(
            lambda: sensor.white_noise_scale or 0.0, later(scale), "a number, zero or more"
        )
    return found
