"""Linear process: noise by a propagation matrix and a covariance, the form that Basilisk's memo discusses."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium import jit
from sensorium.clock import NS_PER_S
from sensorium.corruption.base import Corruption, Layout
from sensorium.corruption.draws import fill_normals
from sensorium.corruption.op import COLUMN, ELAPSED_NS, OPTION, PARAMETERS, PROCESS, STATE, WIDTH, Op
from sensorium.corruption.parameters import Matrix, PerChannel, per_channel, square, square_root


class LinearProcess(Corruption):
    """e_k = Phi e_(k-1) + L w with w normal, and x' = x + e; e begins at 0.

    Phi = 0 is white noise, Phi = I a random walk (the memo's case, in which there is no white noise, physics.md E-31),
    Phi = phi I a Gauss-Markov process. L L^T is the covariance of a step: Basilisk calls its root "covariance" (E-30);
    here each has its own name. With `per="second"` the matrices are those of de = A e dt + G dW, G G^T = covariance
    [unit^2/s], and each step is exact for the time since the sample before: Phi = exp(A dt).
    """

    kind: Literal["linear_process"] = "linear_process"
    propagation: PerChannel | Matrix
    """Phi [1], or A [1/s]: a matrix, or its diagonal, or one number for all of that."""
    covariance: PerChannel | Matrix | None = None
    """Of a step [unit^2], or of the noise in a second [unit^2/s]: a matrix, or its diagonal, or one number."""
    noise: Matrix | None = None
    """L [unit], or G [unit/sqrt(s)], instead of the covariance."""
    per: Literal["sample", "second"] = "sample"
    """What the matrices belong to."""

    @model_validator(mode="after")
    def _rules(self) -> "LinearProcess":
        if (self.covariance is None) == (self.noise is None):
            which = "neither" if self.noise is None else "both"
            raise ValueError(f"{which} of covariance and noise is given; exactly one must be")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One step a sample."""
        propagation = _matrix("propagation", self.propagation, layout.width)
        if self.noise is not None:
            noise = square("noise", self.noise, layout.width)
        else:
            assert self.covariance is not None
            noise = square_root("covariance", _matrix("covariance", self.covariance, layout.width), layout.width)
        if self.per == "sample":
            return [Op(PROCESS, np.stack([propagation, noise]), options=(0,), slots=1)]
        return [Op(PROCESS, np.stack([propagation, noise @ noise.T]), options=(1,), slots=1)]


def _matrix(name: str, value: PerChannel | Matrix, width: int) -> np.ndarray:
    """A matrix over the channels, from all of it or from its diagonal."""
    if np.ndim(value) == 2:
        return square(name, value, width)  # type: ignore[arg-type]
    return np.diag(per_channel(name, value, width))  # type: ignore[arg-type]


@jit.function
def process(ops, o, par, x, state, ids, clock, t, first, last):
    """E = Phi e + L w; x += e."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    phi, noise = np.empty((width, width)), np.empty((width, width))
    for i in range(width):
        for k in range(width):
            phi[i, k], noise[i, k] = par[p + i * width + k], par[p + (width + i) * width + k]
    if ops[o, OPTION]:
        phi, noise = discretised(phi, noise, clock[t, ELAPSED_NS] / NS_PER_S)

    # Draws of all channels of all rows
    w = np.empty((width + 3, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, w[begin : begin + 4])
    before = np.empty(width)
    for row in range(first, last):
        for i in range(width):
            before[i] = state[row, s + i]
        for i in range(width):
            e = 0.0
            for k in range(width):
                e += phi[i, k] * before[k] + noise[i, k] * w[k, row - first]
            state[row, s + i] = e
            x[row, column + i] += e


@jit.function
def discretised(a, q, dt_s):
    """Phi = exp(A dt), and L with L L^T the integral of exp(A u) Q exp(A^T u) over u from 0 to dt.

    Power series over a fraction h of dt short against A, then doubled: Phi(2 h) = Phi^2, Q(2 h) = Q + Phi Q Phi^T.

    Args:
        a: A [1/s], shape (n, n).
        q: Covariance of the noise in a second [unit^2/s], shape (n, n).
        dt_s: Length of the step [s].
    """
    n = a.shape[0]
    size = 0.0
    for i in range(n):
        size = max(size, np.abs(a[i]).sum())
    doublings = 0
    while size * dt_s > 0.0625 * 2.0**doublings:
        doublings += 1
    h = dt_s / 2.0**doublings

    # Terms of the two series
    phi, total = np.eye(n), np.zeros((n, n))
    power, term = np.eye(n), q * h
    for order in range(1, 10):
        total += term
        power = product(power, a, False) * (h / order)
        phi += power
        term = (product(a, term, False) + product(term, a, True)) * (h / (order + 1.0))
    for _ in range(doublings):
        total += product(product(phi, total, False), phi, True)
        phi = product(phi, phi, False)
    return phi, cholesky(total)


@jit.function
def product(a, b, transposed):
    """A B or A B^T; matrices are too small for a library."""
    n = a.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                out[i, j] += a[i, k] * (b[j, k] if transposed else b[k, j])
    return out


@jit.function
def cholesky(q):
    """The lower L with L L^T = Q, which may be singular: where nothing is left, the column is 0."""
    n = q.shape[0]
    out = np.zeros((n, n))
    for j in range(n):
        left = q[j, j]
        for k in range(j):
            left -= out[j, k] * out[j, k]
        if left <= 1e-14 * q[j, j]:
            continue
        out[j, j] = math.sqrt(left)
        for i in range(j + 1, n):
            rest = q[i, j]
            for k in range(j):
                rest -= out[i, k] * out[j, k]
            out[i, j] = rest / out[j, j]
    return out
