"""What has been held against hardware, and what has not: the last table of the page."""

HELD: tuple[tuple[str, str, str], ...] = (
    (
        "VLP-16, VLS-128; PandarXT-32, Pandar64",
        "packets, nebula's tests",
        "range noise by range and reflectivity and its tails, biases of channels, step of ranges, timing, dropout, "
        "least separation of returns",
    ),
    ("OS0-128, OS1-128", "scans and packets, ouster-sdk's tests", "the same without separation; jitter of columns"),
    (
        "RealSense D435",
        "depth frames, librealsense's tests",
        "noise of disparity by depth and from frame to frame, its step",
    ),
    (
        "Basler CCD",
        "EMVA 1288 reference set 001",
        "gain, quantum efficiency, dark noise, dark current, full well, PRNU, DSNU",
    ),
    ("RIEGL airborne scanner", "waveforms, PulseWaves' samples", "shape, width and edges of the pulse"),
    ("ARS548", "detections, nebula's tests", "own speed by Doppler, noise of Doppler and azimuth"),
    ("Xsens MTi", "rest of imu_tk's log", "white noise of accelerometer and gyroscope"),
)
"""Devices, their recordings, and what was compared; the family of recordings measures them again."""

NOT_HELD: tuple[tuple[str, str], ...] = (
    (
        "other devices of the library",
        "round trips compare with data sheets: a simulated device has the numbers that its maker states",
    ),
    ("differences between units", "laws of units of the OS0 and OS1 were compared, in different scenes"),
    (
        "intensity and materials",
        "reflectances are typical values of the literature; models of surfaces are checked against equations and "
        "Mitsuba 3, not against goniometer data",
    ),
    (
        "fog, rain, snow, dust",
        "extinction follows published fits, about which measurements scatter by tens of per cent",
    ),
    ("ghosts, saturation, blooming, crosstalk, range walk", "electronics differ, and data sheets do not tell them"),
    ("polarization, coherent light, multiple scattering", "not modeled"),
    (
        "lenses, colors, motion blur, nonlinearity of cameras",
        "the image set is of an evenly lit chip; its deviations from a line, 0.3 %, are not modeled",
    ),
    ("correlation of a depth camera's noise over pixels, its holes", "measured in the D435's frames, not modeled"),
    ("power, cross-sections, false alarms and movers of radars", "a list of detections does not show them"),
    (
        "bias, scale and misalignment of IMUs; vibration, hysteresis, aging",
        "calibrated in recordings of one unit; no drift over time or temperature was recorded",
    ),
    ("GNSS", "code noise was measured in a receiver's observations; the model reports positions"),
    ("encoders, magnetometers, barometers, sun and cone sensors", "no recording"),
    ("faults, clocks, buses, drivers", "as specified; none was measured"),
)
"""Models without a recording, and why."""


def hardware_rows() -> tuple[tuple[str, str, str], ...]:
    """Rows of the table, the first its head: what, held against, and figures or reasons."""
    head = ("device or model", "held against", "what, or why not")
    return (head, *HELD, *((what, "nothing", why) for what, why in NOT_HELD))


def hardware_table() -> str:
    """The table as Markdown."""
    head, *rows = (f"| {' | '.join(row)} |" for row in hardware_rows())
    return "\n".join([head, "| --- | --- | --- |", *rows])
