"""Answers over HTTP."""

import json
import threading
from http.client import HTTPConnection

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.ouster_http import OusterHttp

METADATA = {"sensor_info": {"prod_line": "OS-1-128"}, "config_params": {"udp_dest": "127.0.0.1"}}


@pytest.fixture
def server():
    changes = []

    def configure(given):
        if "color" in given:
            raise SpecError("color is not simulated")
        changes.append(given)

    made = OusterHttp(("127.0.0.1", 0), lambda: METADATA, configure)
    yield made, changes
    made.close()


def asked(server, method, path, body=None, headers=None):
    connection = HTTPConnection(*server.address, timeout=5.0)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def test_routes_of_the_sdk(server):
    made, _ = server
    assert asked(made, "GET", "/api/v1/sensor/metadata") == (200, METADATA)
    assert asked(made, "GET", "/api/v1/sensor/metadata/sensor_info") == (200, METADATA["sensor_info"])
    assert asked(made, "GET", "/api/v1/sensor/config?x=1") == (200, METADATA["config_params"])
    assert asked(made, "GET", "/api/v1/system/firmware")[1]["fw"].startswith("ousteros-image-prod")
    assert asked(made, "GET", "/api/v1/nothing")[0] == 404


def test_configuration_is_changed_or_refused(server):
    made, changes = server
    assert asked(made, "POST", "/api/v1/sensor/config", json.dumps({"udp_dest": "127.0.0.1"}))[0] == 200
    assert changes == [{"udp_dest": "127.0.0.1"}]
    assert asked(made, "POST", "/api/v1/sensor/config", json.dumps({"color": 1})) == (
        400,
        {"error": "color is not simulated"},
    )
    assert asked(made, "POST", "/api/v1/sensor/config", "[1]")[0] == 400
    assert asked(made, "POST", "/api/v1/sensor/config", "{")[0] == 400
    assert asked(made, "PUT", "/api/v1/else", "{}")[0] == 404
    assert asked(made, "POST", "/api/v1/sensor/config", "x", {"Content-Length": "99999999"})[0] == 413
    assert changes == [{"udp_dest": "127.0.0.1"}]


def test_an_address_that_is_taken_is_refused_and_threads_end(server):
    made, _ = server
    with pytest.raises(SpecError, match=f"http is '127.0.0.1:{made.address[1]}'; another program listens there"):
        OusterHttp(made.address, lambda: METADATA, lambda given: None)
    made.close()
    assert not [one for one in threading.enumerate() if one.name == "sensorium-live-ouster-http"]
