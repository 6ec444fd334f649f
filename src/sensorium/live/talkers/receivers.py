"""Satellite receivers: NMEA 0183 and UBX on a port."""

from collections.abc import Iterable
from typing import Any

from sensorium.environment import Environment
from sensorium.live.talkers.choice import chosen, is_valid
from sensorium.live.talkers.epochs import Epochs, sky_of
from sensorium.live.talkers.formats import nmea, ubx
from sensorium.live.talkers.formats.fix import Fix
from sensorium.live.talkers.options import NmeaOptions, ReceiverOptions, UbxOptions
from sensorium.live.talkers.ports import Port, port_of
from sensorium.live.talkers.talker import Talker


class _Receiver(Talker):
    """A talker of one satellite navigation sensor; void readings are not sent."""

    def __init__(self, options: ReceiverOptions, port: Port) -> None:
        super().__init__(port)
        self._receiver = options
        self._epochs: Epochs | None = None

    def _choose(self, env: Environment) -> tuple[str, ...]:
        name = chosen(env, "gnss", self._receiver.gnss, talker=self.name)
        self._epochs = Epochs(
            env.sensors[name],
            start_utc=self._receiver.start_utc,
            quality=self._receiver.quality,
            satellites=self._receiver.satellites,
            geoid_m=self._receiver.geoid_m,
        )
        return (name,)

    def _fix(self, reading: Any) -> Fix | None:
        assert self._epochs is not None
        return self._epochs.of(reading) if is_valid(reading) else None


class NmeaSink(_Receiver):
    """Sends NMEA 0183 as a receiver does, five sentences for each reading."""

    name = "nmea"

    def __init__(self, options: NmeaOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options, port_of(options.port))
        self._talker = options.talker

    def _encode(self, sensor: str, reading: Any) -> Iterable[bytes]:
        fix = self._fix(reading)
        return () if fix is None else nmea.encode_fix(fix, talker=self._talker)


class UbxSink(_Receiver):
    """Sends UBX as a u-blox receiver does, four frames for each reading."""

    name = "ubx"

    def __init__(self, options: UbxOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options, port_of(options.port))

    def _encode(self, sensor: str, reading: Any) -> Iterable[bytes]:
        fix = self._fix(reading)
        return () if fix is None else ubx.encode_fix(fix, sky=sky_of(fix.satellites))
