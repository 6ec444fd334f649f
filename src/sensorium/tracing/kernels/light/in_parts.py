"""Light followed through a partitioned scene: blocks of rays go from trace to trace, many at once.

This process shades, splits and chooses light, by the steps of the kernel for scenes in memory; parts only find hits. A
return keeps the number of its hit until the end, when it gets the face and the label of that hit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree.crossings import RawCrossings
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import stages
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.remote_hits import LightHits, new_light_hits
from sensorium.tracing.kernels.light.stages import Walks
from sensorium.tracing.labels import LabelTables
from sensorium.tracing.rays import Rays

RemoteHits = Callable[..., LightHits]
"""Finds hits of `Rays`, given where they begin to search [m] and `coherent`: see `PartitionedCaster.remote_hits`."""

Collect = Callable[[Rays], RawCrossings]
"""Finds all faces of volumes that `Rays` cross: see `PartitionedCaster.collect_volumes`."""


class HitLog:
    """Face and label of every hit of some blocks, by its number."""

    def __init__(self, objects: int) -> None:
        self._objects = objects
        self._count = 0
        self.faces = np.zeros(BLOCK, np.int32)
        self._labels = np.zeros(BLOCK, np.int32)

    def add(self, face_id: NDArray[np.int32], label: NDArray[np.int32]) -> int:
        """Record hits; returns the number of the first."""
        base, self._count = self._count, self._count + len(face_id)
        if self._count > len(self.faces):
            self.faces, self._labels = (
                np.concatenate([column[:base], np.zeros(2 * self._count - base, np.int32)])
                for column in (self.faces, self._labels)
            )
        self.faces[base : self._count], self._labels[base : self._count] = face_id, label
        return base

    def labels(self) -> LabelTables:
        """Labels for the kernel, in which the number of a hit replaces a face."""
        none = np.zeros((1, self._objects), np.int32)
        return LabelTables(object_label=none, face_first=none.astype(np.int64), face_label=self._labels)


def walk_through(
    kernel: Callable[..., None],
    where: tuple[Any, ...],
    walks: Walks,
    remote_hits: RemoteHits,
    collect: Collect,
    numbers: NDArray[np.int64],
    light: tb.LightTables,
) -> None:
    """Advance blocks from trace to trace until all are done, as many at once as fit.

    Args:
        kernel: Advances chosen blocks, as `follow_light` does.
        where: All its arguments after `known`.
        walks: Arrays for blocks.
        remote_hits: Finds hits; collect: finds crossings of volumes.
        numbers: Of the blocks, among those of all heads.
        light: Materials and media of the scene.
    """
    most = len(walks.stage)
    if len(numbers) > most:
        for start in range(0, len(numbers), most):
            walk_through(kernel, where, walks, remote_hits, collect, numbers[start : start + most], light)
        return
    log = HitLog(light.object_material.shape[1])
    volumes = light.switch[tb.S_TRACED] > 0

    def advance(chosen: NDArray[np.int64], at: NDArray[np.int64], found: LightHits, crossed: RawCrossings) -> None:
        word = crossed.word.reshape(-1, cr.CROSSING_WORDS)
        bases = log.add(found.face_id, found.label), log.add(word[:, cr.C_FACE], word[:, cr.C_LABEL])
        known = stages.Known(found, crossed, *bases, log.faces, log.labels())
        worker_pool.run(kernel, len(chosen), stages.Chosen(numbers, chosen, at), known, *where)

    everybody, none = np.arange(len(numbers)), cr.new_raw_crossings(0, int(volumes))
    walks.stage[everybody] = stages.AIM
    advance(everybody, np.zeros_like(everybody), new_light_hits(0), none)
    while walks.pending.any():
        # First rays are in the sensor's pattern, all others are scattered
        for first in (True, False):
            chosen = np.flatnonzero((walks.pending > 0) & ((walks.stage == stages.FIRST) == first))
            if len(chosen):
                pending = walks.pending[chosen]
                at = np.cumsum(pending) - pending
                row = np.repeat(chosen * BLOCK - at, pending) + np.arange(pending.sum())
                asked = stages.Asked(*(column[row] for column in walks.asked))
                rays = Rays(*asked[:4], np.zeros(len(row), np.int32))
                crossed = _without(collect(rays), light.bank_column) if volumes else none
                advance(chosen, at, remote_hits(rays, asked.clear_m, coherent=first), crossed)


def _without(crossed: RawCrossings, columns: NDArray[np.int32]) -> RawCrossings:
    """Crossings without those of some objects, which are clipped by planes."""
    there = np.arange(crossed.number.shape[1]) < crossed.found[:, None]
    kept = there & ~np.isin(crossed.word[:, :, cr.C_COLUMN], columns)
    if (kept == there).all():
        return crossed
    order = np.argsort(~kept, axis=1, kind="stable")[:, :, None]
    return RawCrossings(
        kept.sum(axis=1).astype(np.int32),
        np.take_along_axis(crossed.number, order, axis=1),
        np.take_along_axis(crossed.word, order, axis=1),
    )
