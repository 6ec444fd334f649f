"""A waveform as a sum of Gaussians, one per peak, fitted by Levenberg and Marquardt.

    w(t) = sum_i A_i exp(-(t - t_i)^2 / 2 sigma_i^2)

Peaks whose Gaussians overlap are fitted together. Source: Wagner et al., "Gaussian decomposition and calibration of a
novel small-footprint full-waveform digitizing airborne laser scanner", ISPRS J. 60 (2006) 100.
"""

import math

import numpy as np

from sensorium.runtime import jit
from sensorium.tracing.kernels.waveform import tables as wt

# most Gaussians fitted together, and numbers of each: height, place, standard deviation
_TOGETHER, _EACH = 8, 3
_SIZE = _TOGETHER * _EACH
_ROUNDS = 30

# a Gaussian that shrinks to less than this of its peak has lost it
_LEAST = 0.05
_FWHM_SIGMAS = 2.0 * math.sqrt(2.0 * math.log(2.0))

# scratch: parameters, a trial of them, gradient, step, derivatives of one sample, normal matrix and its damped copy
_P, _TRIAL, _GRADIENT, _STEP, _SLOPE, _MATRIX, _DAMPED = (
    0,
    _SIZE,
    2 * _SIZE,
    3 * _SIZE,
    4 * _SIZE,
    5 * _SIZE,
    5 * _SIZE + _SIZE * _SIZE,
)
SCRATCH = 5 * _SIZE + 2 * _SIZE * _SIZE


@jit.function
def decompose(samples, low, high, full, width, offset, found, count, scratch):
    """Replace positions, heights and widths of the returns by those of fitted Gaussians.

    Args:
        samples: Waveform less its background, (length,).
        low, high: Where there are samples.
        full: Value of a saturated sample, infinite for none; such samples are left out.
        width: Full width at half maximum of the pulse [bins]; widths are taken up from there.
        offset: How far from the pulse's time 0 the Gaussian through an ideal pulse lies [bins].
        found: Returns in order, (MOST_FOUND, FOUND_COLUMNS); count: how many.
        scratch: float64 (SCRATCH,).
    """
    i = 0
    while i < count:
        # Overlapping ones
        j = i + 1
        while j < count and j - i < _TOGETHER:
            gap = found[j, wt.F_PEAK] - found[j - 1, wt.F_PEAK]
            if gap > 2.0 * (max(found[j, wt.F_WIDTH], width) + max(found[j - 1, wt.F_WIDTH], width)):
                break
            j += 1
        first = max(np.int64(found[i, wt.F_PEAK] - 1.5 * width), low)
        last = min(np.int64(found[j - 1, wt.F_PEAK] + 1.5 * width) + 1, high)
        for k in range(j - i):
            scratch[_P + _EACH * k] = found[i + k, wt.F_HEIGHT]
            scratch[_P + _EACH * k + 1] = found[i + k, wt.F_PLACE] + offset - 0.5
            scratch[_P + _EACH * k + 2] = max(min(found[i + k, wt.F_WIDTH], 4.0 * width), 0.8 * width) / _FWHM_SIGMAS
        good = last - first > _EACH * (j - i) and _fit(samples, first, last, full, j - i, scratch)
        for k in range(j - i):
            good = good and scratch[_P + _EACH * k] > _LEAST * found[i + k, wt.F_HEIGHT]
        if good:
            for k in range(j - i):
                found[i + k, wt.F_HEIGHT] = scratch[_P + _EACH * k]
                found[i + k, wt.F_PLACE] = scratch[_P + _EACH * k + 1] + 0.5 - offset
                found[i + k, wt.F_WIDTH] = _FWHM_SIGMAS * scratch[_P + _EACH * k + 2]
        i = j


@jit.function
def _fit(samples, first, last, full, count, scratch):
    """Fit the parameters in the scratch to samples first .. last; False if they leave the valid range."""
    size, damping = _EACH * count, 1e-3
    error = _squares(samples, first, last, full, count, scratch, _P)
    for _ in range(_ROUNDS):
        _normal_equations(samples, first, last, full, count, scratch)
        better = False
        for _ in range(8):
            for a in range(size):
                for b in range(a + 1):
                    scratch[_DAMPED + _SIZE * a + b] = scratch[_MATRIX + _SIZE * a + b]
                scratch[_DAMPED + _SIZE * a + a] *= 1.0 + damping
            if _solved(scratch, size):
                for a in range(size):
                    scratch[_TRIAL + a] = scratch[_P + a] + scratch[_STEP + a]
                trial = _squares(samples, first, last, full, count, scratch, _TRIAL)
                if trial < error:
                    better = True
                    break
            damping *= 10.0
        if not better:
            break
        gained = error - trial
        error, damping = trial, max(damping * 0.1, 1e-12)
        for a in range(size):
            scratch[_P + a] = scratch[_TRIAL + a]
        if gained <= 1e-9 * error:
            break
    for k in range(count):
        height, place, sigma = scratch[_P + _EACH * k], scratch[_P + _EACH * k + 1], scratch[_P + _EACH * k + 2]
        if not (height > 0.0 and first - 1.0 <= place <= last and 0.05 < sigma < last - first):
            return False
    return True


@jit.function
def _squares(samples, first, last, full, count, scratch, at):
    """Sum of squared residuals for the parameters that begin at a place of the scratch."""
    total = 0.0
    for b in range(first, last):
        if samples[b] >= full:
            continue
        model = 0.0
        for k in range(count):
            x = (b - scratch[at + _EACH * k + 1]) / scratch[at + _EACH * k + 2]
            model += scratch[at + _EACH * k] * math.exp(-0.5 * x * x)
        total += (samples[b] - model) ** 2
    return total


@jit.function
def _normal_equations(samples, first, last, full, count, scratch):
    """Gradient and normal matrix (lower half) at the present parameters."""
    size = _EACH * count
    for a in range(size):
        scratch[_GRADIENT + a] = 0.0
        for b in range(a + 1):
            scratch[_MATRIX + _SIZE * a + b] = 0.0
    for sample in range(first, last):
        if samples[sample] >= full:
            continue
        rest = np.float64(samples[sample])
        for k in range(count):
            height, place, sigma = scratch[_P + _EACH * k], scratch[_P + _EACH * k + 1], scratch[_P + _EACH * k + 2]
            x = (sample - place) / sigma
            shape = math.exp(-0.5 * x * x)
            rest -= height * shape
            scratch[_SLOPE + _EACH * k] = shape
            scratch[_SLOPE + _EACH * k + 1] = height * shape * x / sigma
            scratch[_SLOPE + _EACH * k + 2] = height * shape * x * x / sigma
        for a in range(size):
            scratch[_GRADIENT + a] += rest * scratch[_SLOPE + a]
            for b in range(a + 1):
                scratch[_MATRIX + _SIZE * a + b] += scratch[_SLOPE + a] * scratch[_SLOPE + b]


@jit.function
def _solved(scratch, size):
    """Solve the damped equations for the step by Cholesky's factors, in place; False where there are none."""
    for a in range(size):
        for b in range(a + 1):
            value = scratch[_DAMPED + _SIZE * a + b]
            for c in range(b):
                value -= scratch[_DAMPED + _SIZE * a + c] * scratch[_DAMPED + _SIZE * b + c]
            if a == b:
                if not value > 0.0:
                    return False
                scratch[_DAMPED + _SIZE * a + a] = math.sqrt(value)
            else:
                scratch[_DAMPED + _SIZE * a + b] = value / scratch[_DAMPED + _SIZE * b + b]
    for a in range(size):
        value = scratch[_GRADIENT + a]
        for c in range(a):
            value -= scratch[_DAMPED + _SIZE * a + c] * scratch[_STEP + c]
        scratch[_STEP + a] = value / scratch[_DAMPED + _SIZE * a + a]
    for a in range(size - 1, -1, -1):
        value = scratch[_STEP + a]
        for c in range(a + 1, size):
            value -= scratch[_DAMPED + _SIZE * c + a] * scratch[_STEP + c]
        scratch[_STEP + a] = value / scratch[_DAMPED + _SIZE * a + a]
    return True
