"""Limits of this validation, printed on every page."""

UNCHECKED: tuple[tuple[str, str], ...] = (
    (
        "No recording of a real sensor is compared anywhere.",
        "Every reference on this page is a law, a published table, a data sheet or another simulator.",
    ),
    (
        "Device round trips compare with data sheets.",
        "They show that a simulated device has the numbers that its maker states, not that one on a bench has them.",
    ),
    (
        "Materials.",
        "Reflectances of the built-in materials are typical values from the literature; no sample was measured. The "
        "microfacet and Oren-Nayar models are checked against their equations and against Mitsuba 3, not against "
        "goniometer data.",
    ),
    (
        "Fog, rain, snow and dust.",
        "Extinction follows published fits; measurements scatter about them by tens of per cent. Returns from the "
        "air follow the gamma law that was asked for; which law a given fog has is the user's to say.",
    ),
    (
        "Multiple scattering, polarization, interference of coherent light and cross-talk between devices",
        "are not modeled, so nothing here could show them.",
    ),
    (
        "Receivers.",
        "Range walk, saturation and recovery of a real detector's electronics differ from device to device, and data "
        "sheets do not tell them.",
    ),
    (
        "Inertial sensors.",
        "Vibration rectification, hysteresis over temperature and aging are not modeled; noise is what an Allan plot "
        "of a sensor at rest would show.",
    ),
    (
        "Time.",
        "Clocks, jitter and latency are as specified; no bus, driver or operating system was measured.",
    ),
)
