"""The radius of a wheel from its geometry."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.sensors.common.spec import Rig

# A wheel thinner than this [m] is no wheel
_LEAST_M = 1e-9


def wheel_radius_m(rig: Rig, axis_S: Sequence[float]) -> NDArray[np.float64]:
    """The largest distance from the axle to a corner of any face of the rig's body [m], shape (worlds, sensors).

    Args:
        rig: Its body is the wheel; the axle passes through the sensor's place on it.
        axis_S: Direction of the axle in the sensor's frame, of any length.
    """
    if rig.body is None:
        rule = "give one, or attach the sensor with body= and the name of the wheel"
        raise SpecError(f"radius_m of {rig.name!r} is None; {rule}")
    layout, body = rig.tracer.layout, rig.tracer.body_names[rig.body]
    columns = [column for column, name in enumerate(layout.body) if name == body]
    axis = np.asarray(axis_S, np.float64) / np.linalg.norm(axis_S)

    # One row of objects may apply to all worlds
    radii = np.zeros((len(layout.mesh_index), rig.sensors))
    for row in range(len(radii)):
        for column in columns:
            number = layout.mesh_index[row, column]
            if number < 0:
                continue
            mesh = layout.meshes[number]
            p_BV = layout.X_BO[row, column].apply(mesh.vertices[np.unique(mesh.faces)])
            for sensor in range(rig.sensors):
                across = np.cross(rig.X_BS[sensor].inverse().apply(p_BV), axis)
                radii[row, sensor] = max(radii[row, sensor], np.sqrt((across**2).sum(axis=-1).max()))
    flat = radii < _LEAST_M
    if flat.any():
        where = f" in world {int(np.argwhere(flat)[0, 0])}" if len(radii) > 1 else ""
        what = "nothing around the axle" if columns else "no object in the scene"
        raise SpecError(f"radius_m of {rig.name!r} is None; body {body!r} has {what}{where} to take it from")
    return np.array(np.broadcast_to(radii, (rig.worlds, rig.sensors)))
