"""`python -m sensorium.qa.round_trip docs/devices.md` writes the table of all devices into a page."""

import sys

from sensorium.devices import names
from sensorium.qa.round_trip import document, round_trip


def main(path: str) -> None:
    """Measure every device of the library and write the table."""
    rows = []
    for kind in ("lidar", "imu", "magnetometer", "encoder", "camera", "depth_camera", "radar"):
        for name in names(kind):
            print(name, flush=True)
            rows += round_trip(name)
    document.write(path, rows)


if __name__ == "__main__":
    main(sys.argv[1])
