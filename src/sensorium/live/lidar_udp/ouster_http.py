"""Ouster's HTTP interface: metadata and configuration of the simulated sensor."""

import http.server
import json
from collections.abc import Callable
from threading import Thread
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.addresses import bind_error
from sensorium.live.lidar_udp.ouster_metadata import FIRMWARE

_SENSOR = "/api/v1/sensor"
_MOST_BYTES, _TIMEOUT_S = 1 << 16, 5.0

# Parts of the metadata that have a route of their own
_PARTS = (
    "sensor_info",
    "beam_intrinsics",
    "lidar_intrinsics",
    "imu_intrinsics",
    "lidar_data_format",
    "calibration_status",
)


class OusterHttp:
    """Answers for one sensor from a daemon thread."""

    def __init__(
        self,
        address: tuple[str, int],
        metadata: Callable[[], dict[str, Any]],
        configure: Callable[[dict[str, Any]], None],
    ) -> None:
        """Listen.

        Args:
            address: Where; port 0 takes a free one.
            metadata: Returns the present metadata.
            configure: Takes a changed configuration, in the keys of `config_params`; raises SpecError to refuse it.
        """

        class Handler(_Handler):
            answers = staticmethod(lambda path: _answer(path, metadata()))
            changes = staticmethod(configure)

        try:
            self._server = http.server.ThreadingHTTPServer(address, Handler)
        except OSError as error:
            raise bind_error(*address, error) from None
        self._server.daemon_threads = True
        self.address: tuple[str, int] = self._server.server_address[:2]  # type: ignore[assignment]
        self._thread = Thread(
            target=self._server.serve_forever, args=(0.05,), name="sensorium-live-ouster-http", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(1.0)


def _answer(path: str, metadata: dict[str, Any]) -> Any:
    """What a route answers; None if there is no such route."""
    path = path.partition("?")[0].rstrip("/")
    if path == "/api/v1/system/firmware":
        return {"fw": FIRMWARE}
    if path == f"{_SENSOR}/metadata":
        return metadata
    if path in (f"{_SENSOR}/config", f"{_SENSOR}/cmd/get_config_param"):
        return metadata["config_params"]
    if path in (f"{_SENSOR}/alerts", f"{_SENSOR}/telemetry"):
        return {}
    return next((metadata[part] for part in _PARTS if path == f"{_SENSOR}/metadata/{part}"), None)


class _Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    timeout = _TIMEOUT_S
    answers: Callable[[str], Any]
    changes: Callable[[dict[str, Any]], None]

    def do_GET(self) -> None:
        """Answer a route."""
        found = self.answers(self.path)
        if found is None:
            self._reply(404, {"error": f"{self.path} is not simulated"})
        else:
            self._reply(200, found)

    def do_POST(self) -> None:
        """Change the configuration."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MOST_BYTES:
            self._reply(
                413, {"error": f"a body of {length or 'unknown'} bytes is refused; at most {_MOST_BYTES} are read"}
            )
            return
        body = self.rfile.read(int(length))
        if self.path.partition("?")[0].rstrip("/") != f"{_SENSOR}/config":
            self._reply(404, {"error": f"{self.path} is not simulated"})
            return
        try:
            given = json.loads(body)
            if not isinstance(given, dict):
                raise SpecError("the configuration must be a JSON object")
            self.changes(given)
        except (SpecError, ValueError, RecursionError) as error:
            self._reply(400, {"error": str(error)})
        else:
            self._reply(200, {})

    do_PUT = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _reply(self, status: int, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
