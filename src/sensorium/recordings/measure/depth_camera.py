"""Noise and quantum of a stereo depth camera's disparity, from its depth frames.

    d = f b / z                                  disparity [px]; a plane in space is a plane in d over pixels
    sigma^2 = (sum of (d - plane)^2) / (n - 3) - (u f b / z^2)^2 / 12

for windows of 21 x 21 pixels without a hole, with the rounding of depth to units u taken off. The noise is the median
over windows, since few windows lie on edges. From frame to frame, sigma_t = std(d_k+1 - d_k) / sqrt(2) in the same
windows. The noise is smooth over pixels (the matcher's window): its correlation with the next pixel is given too.

The quantum is that of the disparities of distinct depths (`quantum`); far away, a unit of depth resolves it.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.figures import median_figure, student_figure
from sensorium.recordings.measure.quantum import quantum_figure
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.realsense import DepthRecording

Float = NDArray[np.float64]

WINDOW = 21
"""Pixels along a side of the windows that planes are fitted to."""

_LEAST_WINDOWS = 6
_BINS_M = (0.0, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
_COARSEST_PX, _FINEST_PX = 1.0, 1.0 / 256.0


def measure_depth_camera(recording: DepthRecording) -> Measurement:
    """Noise by depth, from frame to frame, over pixels; quantum; share of pixels with depth."""
    depth, spread, correlation = plane_residuals(recording)
    if len(depth) < _LEAST_WINDOWS:
        rule = f"it must have {_LEAST_WINDOWS}"
        raise SpecError(f"{recording.path.name!r} has {len(depth)} windows of {WINDOW} px without a hole; {rule}")
    pixels = WINDOW**2
    figures = [median_figure("disparity_noise", spread, "px", len(depth) * pixels)]
    rows = []
    for low, high in pairwise(_BINS_M):
        inside = (depth >= low) & (depth < high)
        if np.count_nonzero(inside) >= _LEAST_WINDOWS:
            where = f"depth {low:g} to {high:g} m"
            count = int(inside.sum()) * pixels
            figure = median_figure("disparity_noise.by_depth", spread[inside], "px", count, where=where)
            figures.append(figure)
            rows.append((float(depth[inside].mean()), figure.value, figure.low, figure.high))
    temporal = temporal_noise(recording)
    if len(temporal) >= _LEAST_WINDOWS:
        figures.append(median_figure("disparity_noise.frame_to_frame", temporal, "px", len(temporal) * pixels))
    figures.append(median_figure("disparity_noise.next_pixel", correlation, "1", len(depth) * pixels))
    quantum = disparity_quantum(recording)
    if quantum is not None:
        figures.append(quantum)
    figures.append(_valid_share(recording))
    curves: tuple[Curve, ...] = ()
    if rows:
        labels = ("depth", "m", "disparity noise", "px")
        curves = (Curve("disparity_noise.by_depth", *labels, *np.array(rows).T),)
    frames = f"{len(recording.codes)} frame{'s' * (len(recording.codes) > 1)}"
    remarks = [f"about planes of {WINDOW} x {WINDOW} px in {frames}, median over windows"]
    if quantum is None:
        remarks.append("no spacing fits the disparities: the quantum is not measured")
    if len(recording.codes) == 1:
        remarks.append("one frame only: noise from frame to frame is not measured")
    return Measurement("depth_camera", recording.device, recording.path.name, tuple(figures), curves, tuple(remarks))


def plane_residuals(recording: DepthRecording) -> tuple[Float, Float, Float]:
    """Of each window without a hole: mean depth [m], noise about its plane [px], correlation with the next pixel."""
    basis = _plane_basis()
    found = []
    for codes in recording.codes:
        windows = _windows(codes)
        windows = windows[(windows > 0).all(axis=1)]
        depth = windows * recording.unit_m
        disparity = recording.disparity_of_m / depth
        residual = disparity - (disparity @ basis) @ basis.T
        rounding = recording.unit_m * recording.disparity_of_m / depth**2
        total = (residual**2).sum(axis=1) / (WINDOW**2 - basis.shape[1])
        square = residual.reshape(-1, WINDOW, WINDOW)
        ahead = (square[:, :, 1:] * square[:, :, :-1]).mean(axis=(1, 2))
        correlation = ahead / np.maximum((residual**2).mean(axis=1), 1e-300)
        noise = np.sqrt(np.maximum(total - (rounding**2).mean(axis=1) / 12.0, 0.0))
        found.append(np.stack([depth.mean(axis=1), noise, correlation]))
    depths, noises, correlations = np.concatenate(found, axis=1)
    return depths, noises, correlations


def window_planes(recording: DepthRecording, frame: int) -> tuple[Float, Float]:
    """Planes through the disparities of a frame's windows without a hole, where they are in front of the camera.

    Returns:
        Column and row of each window's first pixel, shape (windows, 2); disparities of the plane at the window's
        corners, half a pixel beyond its pixels [px], shape (windows, 4): clockwise from the upper left.
    """
    codes = recording.codes[frame]
    windows = _windows(codes)
    whole = np.flatnonzero((windows > 0).all(axis=1))
    row, column = np.divmod(whole, codes.shape[1] // WINDOW)
    y, x = np.mgrid[:WINDOW, :WINDOW].reshape(2, -1)
    design = np.stack([np.ones(WINDOW**2), x, y], axis=1)
    disparity = recording.disparity_of_m / recording.unit_m / windows[whole]
    plane = np.linalg.lstsq(design, disparity.T, rcond=None)[0]
    low, high = -0.5, WINDOW - 0.5
    corners = np.array([[1.0, low, low], [1.0, high, low], [1.0, high, high], [1.0, low, high]]) @ plane
    ahead = (corners > 0.0).all(axis=0)
    return WINDOW * np.stack([column, row], axis=1)[ahead].astype(np.float64), corners.T[ahead]


def temporal_noise(recording: DepthRecording) -> Float:
    """Noise from frame to frame of each window without a hole in both, for all successive frames [px]."""
    spreads: list[Float] = []
    for before, after in zip(recording.codes[:-1], recording.codes[1:], strict=True):
        a, b = _windows(before), _windows(after)
        whole = ((a > 0) & (b > 0)).all(axis=1)
        difference = recording.disparity_of_m / recording.unit_m * (1.0 / b[whole] - 1.0 / a[whole])
        spreads.append(difference.std(axis=1) / np.sqrt(2.0))
    return np.concatenate(spreads) if spreads else np.zeros(0)


def disparity_quantum(recording: DepthRecording) -> Figure | None:
    """Spacing of the disparities of distinct depths; None where no spacing fits them."""
    codes = np.unique(recording.codes)
    depth = codes[codes > 0].astype(np.float64) * recording.unit_m
    disparity, unit = recording.disparity_of_m / depth, recording.unit_m * recording.disparity_of_m / depth**2
    return quantum_figure("disparity_quantum", disparity, unit, "px", coarsest=_COARSEST_PX, finest=_FINEST_PX)


def _valid_share(recording: DepthRecording) -> Figure:
    """Share of pixels with depth; windows are the samples, since holes lie together."""
    shares = np.concatenate([(_windows(codes) > 0).mean(axis=1) for codes in recording.codes])
    error = float(shares.std(ddof=1) / np.sqrt(len(shares)))
    return student_figure("valid_share", float(shares.mean()), "1", error, len(shares) - 1, len(shares) * WINDOW**2)


def _windows(codes: NDArray[np.uint16]) -> Float:
    """Windows side by side, shape (windows, pixels of one)."""
    rows, columns = (size // WINDOW for size in codes.shape)
    cut = codes[: rows * WINDOW, : columns * WINDOW].astype(np.float64)
    return cut.reshape(rows, WINDOW, columns, WINDOW).transpose(0, 2, 1, 3).reshape(-1, WINDOW**2)


def _plane_basis() -> Float:
    """Orthonormal constant and slopes of a window, shape (pixels of one, 3)."""
    y, x = np.mgrid[:WINDOW, :WINDOW].reshape(2, -1)
    return np.linalg.qr(np.stack([np.ones(WINDOW**2), x, y], axis=1))[0]
