"""The model of inertial and magnetic sensors: up to three groups of axes, sampled together."""

from collections.abc import Sequence

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.corruption import Part, Program
from sensorium.corruption.errors.couple import Coupling
from sensorium.corruption.faults.fault import blamed
from sensorium.sensors.common.sampled import SampledModel, required_rate_hz
from sensorium.sensors.common.spec import Rig, SensorSpec
from sensorium.sensors.inertial.reading import INTEGRALS, InertialLayout, InertialReading
from sensorium.sensors.inertial.signal import InertialSignal
from sensorium.sensors.inertial.triaxial import AXES, AngularGroup, LinearGroup, Triaxial

# Names that faults call the groups by, and their numbers in the counter
_TARGETS = {"acceleration": ("linear", 0), "angular_velocity": ("angular", 1), "magnetic_field": ("magnetic", 2)}


def start_inertial(
    spec: SensorSpec[InertialReading],
    rig: Rig,
    outputs: Sequence[str],
    *,
    linear: LinearGroup | None = None,
    angular: AngularGroup | None = None,
    magnetic: Triaxial | None = None,
) -> SampledModel[InertialReading]:
    """Put a sensor of up to three groups to work.

    Args:
        spec: The sensor, for its clock and faults.
        rig: Mount of the sensor.
        outputs: Quantities that are read out, in order.
        linear: Its accelerometer, if it has one.
        angular: Its gyroscope.
        magnetic: Its magnetometer.
    """
    signal = InertialSignal(rig, outputs, linear=linear, angular=angular, magnetic=magnetic)
    period_s = 1.0 / required_rate_hz(spec.timing)

    # One program over all channels
    parts: list[Part] = []
    for name, group in signal.groups.items():
        target, number = _TARGETS[name]
        g_sensitivity = None
        if signal.g_sensitivity_column is not None and isinstance(group, AngularGroup):
            given = np.asarray(group.g_sensitivity, np.float64)
            matrix = given * np.eye(3) if given.ndim == 0 else given
            g_sensitivity = Coupling(matrix=matrix.tolist(), source_column=signal.g_sensitivity_column)
        parts += group.parts(
            column=signal.columns_of[name],
            group=number,
            target=target,
            period_s=period_s,
            faults=spec.faults,
            g_sensitivity=g_sensitivity,
        )

    _check_faults(spec, signal, outputs)
    layout = InertialLayout(
        rig,
        tuple(outputs),
        signal.columns_of,
        {name: [AXES.index(axis) for axis in group.axes] for name, group in signal.groups.items()},
    )
    return SampledModel(
        rig,
        spec.timing,
        signal,
        Program(parts, columns=signal.columns, period_s=period_s),
        lambda sample: InertialReading(sample, layout),
        looks_back=signal.looks_back,
    )


def _check_faults(spec: SensorSpec[InertialReading], signal: InertialSignal, outputs: Sequence[str]) -> None:
    """Raise if a fault affects no quantity that is read out."""
    rates = dict.fromkeys(INTEGRALS.get(name, name) for name in outputs)
    read = {_TARGETS[name][0]: signal.groups[name].axes for name in rates}
    for number, fault in enumerate(spec.faults.faults):
        if fault.corruption is None or not fault.on:
            continue
        with blamed(number):
            if fault.target is not None and fault.target not in read:
                raise SpecError(f"target is {fault.target!r}; the sensor reads out {', '.join(read)} alone")
            axes = [read[fault.target]] if fault.target is not None else list(read.values())
            if fault.channels is not None and not any(AXES[i] in some for i in fault.channels for some in axes):
                raise SpecError(f"channels is {fault.channels}; the sensor reads out none of these axes")
