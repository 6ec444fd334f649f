"""Runs with Ouster's SDK in an environment of its own: asks a sensor for its metadata and waits for a packet.

Arguments: address of the sensor. It prints product, channels, columns, port and firmware as JSON.
"""

import json
import sys

from ouster.sdk import core, sensor
from ouster.sdk._bindings.client import Sensor

address = sys.argv[1]
http = sensor.SensorHttp.create(address, 5)
print("ready", flush=True)
info = Sensor(address, core.SensorConfig()).fetch_metadata(5)
version = http.firmware_version()
firmware = f"v{version.major}.{version.minor}.{version.patch}"
found = [info.prod_line, info.h, info.w, info.config.udp_port_lidar, firmware]
print(json.dumps(found), flush=True)
