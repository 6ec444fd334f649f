"""Linear process: noise by a propagation matrix and a covariance, the form that Basilisk's memo discusses."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.corruption.engine.parameters import Matrix, PerChannel, per_channel, square, square_root
from sensorium.runtime import jit

PROCESS = 11


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
    """Whether the matrices are per sample (Phi, L) or per second (A, G)."""

    @model_validator(mode="after")
    def _rules(self) -> "LinearProcess":
        if (self.covariance is None) == (self.noise is None):
            which = "neither" if self.noise is None else "both"
            raise ValueError(f"{which} of covariance and noise is given; exactly one must be")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One step per sample."""
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
        return square(name, value, width)
    return np.diag(per_channel(name, value, width))  # type: ignore[arg-type]


@operation(PROCESS)
@jit.function
def process(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """E = Phi e + L w; x += e."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    matrices = np.empty((5, width, width))
    phi, noise = matrices[0], matrices[1]
    for i in range(width):
        for k in range(width):
            phi[i, k], noise[i, k] = par[p + i * width + k], par[p + (width + i) * width + k]
    if ops[o, op.OPTION]:
        discretize(matrices, clock[t, op.ELAPSED_NS] / NS_PER_S)

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
def discretize(matrices: Float, dt_s: float) -> None:
    """Turn A and Q into Phi = exp(A dt), and L with L L^T the integral of exp(A u) Q exp(A^T u) over u from 0 to dt.

    Power series over a fraction h of dt short against A, then doubled: Phi(2 h) = Phi^2, Q(2 h) = Q + Phi Q Phi^T.
    Loops are written out since arrays as wholes take Numba seconds to compile.

    Args:
        matrices: A [1/s] and Q [unit^2/s], which become Phi [1] and L [unit], and room for three more, (5, n, n).
        dt_s: Length of the step [s].
    """
    n = matrices.shape[1]
    a, q, phi, term, room = matrices[0], matrices[1], matrices[2], matrices[3], matrices[4]
    size = 0.0
    for i in range(n):
        row = 0.0
        for j in range(n):
            row += abs(a[i, j])
        size = max(size, row)
    doublings = 0
    while size * dt_s > 0.0625 * 2.0**doublings:
        doublings += 1
    h = dt_s / 2.0**doublings

    # Phi by Horner's rule from its last term: I + h A / k (I + h A / (k + 1) (...))
    for i in range(n):
        for j in range(n):
            phi[i, j] = 1.0 if i == j else 0.0
    for order in range(9, 0, -1):
        multiply(a, phi, room, False)
        for i in range(n):
            for j in range(n):
                phi[i, j] = room[i, j] * (h / order) + (1.0 if i == j else 0.0)

    # Q by terms, each h / (order + 1) (A term + term A^T) of the one before
    for i in range(n):
        for j in range(n):
            term[i, j] = q[i, j] * h
            q[i, j] = term[i, j]
    for order in range(1, 9):
        multiply(a, term, room, False)
        for i in range(n):
            for j in range(n):
                term[i, j] = (room[i, j] + room[j, i]) * (h / (order + 1.0))
                q[i, j] += term[i, j]

    # A is not needed any more
    for _ in range(doublings):
        multiply(phi, q, room, False)
        multiply(room, phi, term, True)
        multiply(phi, phi, room, False)
        for i in range(n):
            for j in range(n):
                q[i, j] += term[i, j]
                phi[i, j] = room[i, j]
    for i in range(n):
        for j in range(n):
            a[i, j] = phi[i, j]
    take_root(q)


@jit.function
def multiply(a: Float, b: Float, out: Float, transposed: bool) -> None:
    """Out = A B or A B^T; matrices are too small for a library."""
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += a[i, k] * (b[j, k] if transposed else b[k, j])
            out[i, j] = total


@jit.function
def take_root(q: Float) -> None:
    """Turn Q into the lower L with L L^T = Q (Cholesky); a column with nothing left is 0, so Q may be singular."""
    n = q.shape[0]
    for j in range(n):
        left, whole = q[j, j], q[j, j]
        for k in range(j):
            left -= q[j, k] * q[j, k]
            q[k, j] = 0.0
        root = math.sqrt(left) if left > 1e-14 * whole else 0.0
        q[j, j] = root
        for i in range(j + 1, n):
            rest = q[i, j]
            for k in range(j):
                rest -= q[i, k] * q[j, k]
            q[i, j] = rest / root if root > 0.0 else 0.0
