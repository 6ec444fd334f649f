"""Times of active faults in a report."""

from collections.abc import Iterable
from typing import Any

from sensorium.core.clock import ns_to_seconds
from sensorium.sensors.common.attached import AttachedSensor

# Bars that are drawn; a fault that comes and goes for an hour has more
_MOST_EVENTS = 600


def fault_events(sensors: Iterable[AttachedSensor[Any]], end_ns: int) -> tuple[list[dict[str, Any]], int]:
    """Faults of the first world in order of sensor and onset, and how many more there were.

    Args:
        sensors: Whose.
        end_ns: When the run ended [ns]; a fault still active lasts until then.
    """
    events = []
    for sensor in sensors:
        for event in sensor.faults.log:
            if event.world == sensor.rig.first_world:
                over_ns = end_ns if event.end_ns is None else event.end_ns
                events.append(
                    {
                        "sensor": sensor.name,
                        "fault": event.fault,
                        "from_s": ns_to_seconds(event.start_ns),
                        "to_s": ns_to_seconds(over_ns),
                        "active": event.end_ns is None,
                    }
                )
    return events[:_MOST_EVENTS], max(0, len(events) - _MOST_EVENTS)
