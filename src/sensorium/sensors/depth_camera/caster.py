"""Casts the images of depth cameras from the history, then applies their errors."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.patterns import Fisheye, Pinhole, RayTable
from sensorium.random import Stream
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.common.firing import Firing
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.depth_camera import flow_tables, tint_tables
from sensorium.sensors.depth_camera.arrays import DepthArrays, ImageBufferPool, ImageBuffers
from sensorium.sensors.depth_camera.errors import STAGES
from sensorium.sensors.depth_camera.faults import DepthFaults
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.sensors.depth_camera.measuring import DepthMeasure, DepthShot, without_measurement
from sensorium.sensors.depth_camera.random_heads import RandomHeads
from sensorium.sensors.depth_camera.rays import DepthRays, in_tiles
from sensorium.sensors.depth_camera.stage import DepthFrame
from sensorium.tracing.embree.packet import COHERENT_ADDRESS
from sensorium.tracing.kernels.depth import kernel as dk
from sensorium.tracing.kernels.depth import lens as ln
from sensorium.tracing.kernels.depth.drawing.canvas import frame
from sensorium.tracing.kernels.depth.ray_jitter import RayJitter
from sensorium.tracing.kernels.sweep import Heads
from sensorium.tracing.placement.instant import Cameras, InstantState
from sensorium.tracing.placement.scenes import PlacedScenes

if TYPE_CHECKING:
    from sensorium.sensors.depth_camera.depth_camera import DepthCamera

# Before all times [ns]
_ALWAYS = -(2**63)

# Start and end as fractions of an interval
_ENDS = np.array([0.0, 1.0], np.float32)

# Placeholder where no flow is requested
_NO_MAPS = np.zeros((0, 0, 12))
_NO_MOTIONS = dk.Motions(_NO_MAPS, _NO_MAPS)

# Placeholder where scenes and cameras are placed before the kernel runs
_PLACED_BEFORE = dk.Placing(
    InstantState(np.zeros((2, 2), np.int64), np.zeros(1, np.int64), 0, np.zeros((0, 3)), np.zeros((0, 3))),
    Cameras(-1, np.zeros((0, 0, 3)), np.zeros((0, 0, 4)), np.zeros((0, 0, 0, 3)), np.zeros((0, 0, 0, 4))),
)


class _LensFields(NamedTuple):
    """The fields of an image that follow from its lenses."""

    lens: NDArray[np.float64]  # their rows
    focal_px: NDArray[np.float64]  # (*axes, 2)
    center_px: NDArray[np.float64]  # (*axes, 2)
    projection: NDArray[np.int64]  # (*axes,)


_Taken = tuple[DepthImage, Callable[[], DepthImage]]
"""An image, and a function that gives its truth."""


class DepthCaster:
    """Casts and measures images, for every world and every camera of a rig."""

    def __init__(self, spec: "DepthCamera", rig: Rig) -> None:
        self._spec, self._rig, self._tracer = spec, rig, rig.tracer
        stream, pattern = Stream(rig.seed, rig.name), spec.pattern
        self._key = np.array(stream.key, np.uint32)
        self._heads, self._count = rig.worlds * rig.sensors, pattern.width * pattern.height

        # Rays in the order of tiles
        self._place = in_tiles(pattern.width, pattern.height)
        self._rays = _arranged(pattern, self._place)
        self.duration_ns = int(self._rays.offset_ns.max()) + 1 if pattern.line_time_s else 0
        """From the first row to the last [ns]."""
        self.period_ns = pattern.rays().duration_ns
        """From image to image [ns]."""
        self._random = None if spec.randomize is None else RandomHeads(spec.randomize, pattern, rig, stream.key)
        lens = ln.lens_row(pattern)[None]
        self._pixels = dk.Pixels(
            place=self._place,
            u=(self._place % pattern.width).astype(np.float32),
            v=(self._place // pattern.width).astype(np.float32),
            lens=lens,
            own_lens=False,
            jitter=self._jitter(0.0, np.zeros(rig.worlds, np.int64)),
        )

        # Tables of objects, and what is measured
        self._refresh_layout()
        measures = DepthArrays.are_measured(spec.outputs)
        self._stages = [(error, STAGES[type(error)]) for error in spec.errors] if measures else []
        self._faults: DepthFaults | None = None
        if measures and spec.faults.corrupt:
            self._faults = DepthFaults(rig, self._count, 1.0 / pattern.rate_hz, spec.max_range_m, spec.faults)
        self._arrays = DepthArrays(
            spec, rig.axes, self._heads, [stage for _, stage in self._stages], faulty=self._faults is not None
        )
        moves = spec.randomize is not None and spec.randomize.placement is not None
        self._firing = Firing(rig, worlds_differ=moves)
        self._recycler = Recycler()
        self._measure = DepthMeasure(spec, self._heads, self._arrays, self._recycler)
        self._lens_fields = self._lens_fields_of(lens)
        near, far, dropped = without_measurement(spec)
        self._meanings: dict[str, Any] = {
            **{"near": near, "far": far, "dropped": dropped if spec.can_drop else math.nan},
            **{"scale_m": spec.scale_m, "frame": spec.frame},
        }
        self._flows = bool({"flow", "scene_flow"} & spec.outputs)
        self._masked_for: PlacedScenes | None = None
        self._bits = np.uint32(0)

        # Rays that start at one time and place through pixel centers are rasterized
        jitters = spec.randomize is not None and spec.randomize.ray_jitter_rad > 0.0
        self._frame = frame(
            pattern.width, pattern.height, self._heads, self._layout, one_instant=self.duration_ns == 0 and not jitters
        )
        self._all_rasterized = self._are_all_rasterized()
        self._blocks = self._heads * -(-self._count // self._frame.span)
        self._buffers = ImageBufferPool()
        self._instant: tuple[DepthShot, InstantState] | None = None

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Draw random heads and faults again in worlds that were reset."""
        if self._random is not None:
            self._random.restart(mask)
        if self._faults is not None:
            self._faults.restart(mask)

    def take(self, start_ns: int, tick: int, since_ns: int = _ALWAYS) -> "_Taken":
        """An image whose first row is taken at a time, and a function that gives its truth.

        Args:
            start_ns: Start [ns].
            tick: Number of the image, which selects its random numbers.
            since_ns: When the camera was last switched on [ns]; flow ignores earlier times.
        """
        if self._layout is not self._tracer.layout:  # worlds were redrawn
            self._refresh_layout()
        if self._random is not None:
            self._renew(self._random, tick)
        motions = self._motions(start_ns, since_ns) if self._flows else _NO_MOTIONS
        return (self._rasterize if self._all_rasterized else self._trace)(start_ns, tick, motions)

    # --- the cast ---------------------------------------------------------------------------------------------------

    def _rasterize(self, start_ns: int, tick: int, motions: dk.Motions) -> _Taken:
        """Images whose kernel places cameras and objects itself."""
        if self._instant is None:
            self._instant = self._new_instant()
        (shot, state), placed = self._instant, self._tracer.instants
        buffers = self._buffers.free(self._new_buffers)
        with placed.lock:
            self._tracer.begin_instant(placed, start_ns, state)
            shot.draws.tick[0] = tick
            self._buffers.invalidate_unless_bound_to(placed, placed.tables, self._layout, self._pixels, motions)
            kernel = buffers.kernel
            if kernel is None:
                placing, now = dk.Placing(state, buffers.cameras), shot.through(self._pixels)
                kernel = buffers.bind(*self._arguments(placed, now, placing, motions, buffers.outputs))

            # The fields of the reading are gathered while other threads begin with the pixels
            fields = worker_pool.share_while(
                kernel, self._blocks, lambda: self._fields(buffers.outputs, buffers.X_WS, start_ns)
            )
            placed.end_instant(state.anchor)
        image = DepthImage.trusted(fields)
        if not self._arrays.need_truth:
            return image, partial(_true_already, image)

        # Measured again after later images have been taken
        return image, partial(self._measure.truth, image, shot.through(self._pixels).copy(), buffers.outputs.true_m)

    def _trace(self, start_ns: int, tick: int, motions: dk.Motions) -> _Taken:
        """Images of scenes that are placed beforehand, and their errors."""
        end_ns, out, measure = start_ns + self.duration_ns, self._arrays.new(self._recycler.array), self._measure
        rays, heads, anchor, _, _, X_WS = self._firing.aim(self._rays, start_ns, end_ns)
        if self.duration_ns:
            heads = _over_time(heads)
        placed = self._tracer.place_around(start_ns, end_ns, anchor)
        shot = DepthShot(dk.DepthAim(rays, heads, anchor, self._pixels, self._frame), self._draws(tick))
        with placed.lock:
            arguments = self._arguments(placed, shot, _PLACED_BEFORE, motions, out)
            worker_pool.share(dk.depth_images, self._blocks, *arguments)
        if self._stages or self._faults is not None:
            range_m = self._corrupted(out, X_WS, shot, placed) if self._stages else out.true_m
            if self._faults is not None:
                range_m = self._faults.apply(measure.noisy(shot, range_m), end_ns)
            out = self._arrays.with_measured(out, measure.measured(shot, range_m, noise=self._faults is None))
        image = DepthImage.trusted(self._fields(out, X_WS, start_ns))
        if not self._arrays.need_truth:
            return image, partial(_true_already, image)
        made = image
        if self._faults is not None:
            current = self._arrays.unmeasured(out)
            held = self._faults.with_held(current)
            if held is not current:
                made = replace(image, images=self._arrays.images(out._replace(**held)))
        return made, partial(measure.truth, image, shot, out.true_m)

    def _arguments(
        self, placed: PlacedScenes, shot: DepthShot, placing: dk.Placing, motions: dk.Motions, out: dk.DepthOutputs
    ) -> tuple[Any, ...]:
        """Arguments of the kernel, after those that say which blocks."""
        return (
            dk.DepthScene(
                placed.tables, placed.mounts, placed.meshes, self._tracer.labels, self._mask(placed), COHERENT_ADDRESS
            ),
            shot.aim,
            placing,
            dk.Shading(self._tints, motions, self._spec.frame == "world"),
            self._measure.by(shot.draws),
            out,
        )

    def _new_instant(self) -> tuple[DepthShot, InstantState]:
        """Arrays for rasterization: one set for all images, because kernels are bound to them."""
        worlds = self._rig.worlds
        instant = np.zeros((2, 2), np.int64), np.zeros(1, np.int64)
        state = InstantState(*instant, self._rig.history.bodies, np.empty((worlds, 3)), np.empty((worlds, 3)))
        rays, heads = self._firing.instant_rays(self._rays)
        return DepthShot(dk.DepthAim(rays, heads, state.anchor, self._pixels, self._frame), self._draws(0)), state

    def _new_buffers(self) -> ImageBuffers:
        """Arrays for images to be rasterized."""
        return ImageBuffers(self._arrays.new(np.empty), self._firing.cameras())

    def _jitter(self, std_rad: float, tick: NDArray[np.int64]) -> RayJitter:
        """Angular offsets of rays from their pixels, drawn at these ticks (worlds,)."""
        return RayJitter(np.float32(std_rad), self._key, tick, self._rig.first_world, self._count)

    def _draws(self, tick: int) -> dk.DepthDraws:
        """Counter words of an image's random numbers."""
        return dk.DepthDraws(self._key, np.array([tick], np.int64), self._rig.first_world, self._rig.sensors)

    # --- before the cast --------------------------------------------------------------------------------------------

    def _refresh_layout(self) -> None:
        """Update the material tables of objects from the scene."""
        rig = self._rig
        self._layout = layout = self._tracer.layout
        colored = "color" in self._spec.outputs
        self._tints = tint_tables.tints(layout, rig.sun) if colored else tint_tables.NO_TINTS

    def _mask(self, placed: PlacedScenes) -> np.uint32:
        """Mask bits of the visible objects."""
        if self._masked_for is not placed:
            self._masked_for, self._bits = placed, np.uint32(placed.mask_without(self._rig.hide, air=False))
        return self._bits

    def _renew(self, heads: RandomHeads, tick: int) -> None:
        """Poses and lenses of this image."""
        spec = self._spec.randomize
        assert spec is not None
        if not heads.renew(tick):
            return
        if spec.placement is not None:
            self._firing.mount(heads.X_BS.position, heads.X_BS.quaternion)
        if spec.projections or spec.intrinsics is not None or spec.ray_jitter_rad:
            self._pixels = self._pixels._replace(
                lens=heads.lens, own_lens=True, jitter=self._jitter(spec.ray_jitter_rad, heads.tick)
            )
            self._all_rasterized = self._are_all_rasterized()

    def _are_all_rasterized(self) -> bool:
        """Whether no ray is traced through the top-level scene, neither for images nor for errors."""
        straight = bool((self._pixels.lens[:, ln.KIND] == ln.PINHOLE).all())
        return self._frame.rasterized and straight and not self._stages and self._faults is None

    def _motions(self, start_ns: int, since_ns: int) -> dk.Motions:
        """Motion of bodies relative to the cameras."""
        rig, outputs = self._rig, self._spec.outputs
        velocity = displacement = _NO_MAPS
        if "scene_flow" in outputs:
            X_WB = rig.history.poses(np.array([start_ns], np.int64))
            X_WS, twists = self._cameras(X_WB), flow_tables.twists_at(rig.history, start_ns)
            in_world = self._spec.frame == "world"
            velocity = flow_tables.velocity_maps(X_WB[0], twists, X_WS[0], rig.body, in_world=in_world)
        if "flow" in outputs:
            before_ns = max(start_ns - self.period_ns, since_ns, rig.history.start_ns)
            times_ns = np.array([before_ns, start_ns] if before_ns < start_ns else [start_ns], np.int64)
            X_WB = rig.history.poses(times_ns)
            if len(times_ns) == 1:
                X_WB = X_WB.broadcast_to((2, *X_WB.shape[1:]))
            X_WS = self._cameras(X_WB)
            displacement = flow_tables.displacement_maps(X_WB, X_WS)
        return dk.Motions(velocity, displacement)

    def _cameras(self, X_WB: Pose) -> Pose:
        """Poses of the cameras, with their present mounts, at several times: batch (times, worlds, sensors)."""
        rig = self._rig
        X_BS = rig.X_BS.reshape((1, -1)) if self._random is None else self._random.X_BS
        on = Pose().broadcast_to((*X_WB.shape[:2], 1)) if rig.body is None else X_WB[:, :, rig.body, None]
        return on @ X_BS

    # --- after it ---------------------------------------------------------------------------------------------------

    def _corrupted(
        self, out: dk.DepthOutputs, X_WS: Pose, shot: DepthShot, placed: PlacedScenes
    ) -> NDArray[np.float32]:
        """Ranges after the errors, shape (heads, pixels)."""
        rig, spec, pixels = self._rig, self._spec, shot.aim.pixels
        lens = np.broadcast_to(pixels.lens, (self._heads, ln.LENS_COLUMNS))
        rays = DepthRays(rig, placed, lens, pixels.jitter)
        frame = DepthFrame(
            range_m=np.array(out.true_m),
            axial=self._measure.axial(shot),
            object_id=out.object_id,
            cosine=out.cosine,
            width=spec.pattern.width,
            focal_px=lens[:, ln.FX : ln.FY + 1],
            X_WS=X_WS[0].reshape(-1),
            key=self._key,
            tick=int(shot.draws.tick[0]),
            first_world=rig.first_world,
            sensors=rig.sensors,
            cast=rays.cast,
            reflectance=rays.reflectance,
        )
        for error, stage in self._stages:
            stage.apply(error, frame)
        return frame.range_m

    def _fields(self, out: dk.DepthOutputs, X_WS: Pose, start_ns: int) -> dict[str, Any]:
        """The fields of the reading that a kernel's outputs make."""
        if self._lens_fields[0] is not self._pixels.lens:
            self._lens_fields = self._lens_fields_of(self._pixels.lens)
        _, focal_px, center_px, projection = self._lens_fields
        return {
            **self._meanings,
            "images": self._arrays.images(out),
            "focal_px": focal_px,
            "center_px": center_px,
            "projection": projection,
            "start_ns": start_ns,
            "end_ns": start_ns + self.duration_ns,
            "time_ns": self._rig.stamp_ns(start_ns, known_ns=start_ns + self.duration_ns),
            "X_WS": X_WS,
        }

    def _lens_fields_of(self, lens: NDArray[np.float64]) -> _LensFields:
        """Focal length, center and projection of all cameras, with the lenses they have now."""
        axes, random = self._rig.axes, self._random
        every = np.broadcast_to(lens, (self._heads, ln.LENS_COLUMNS)).reshape(*axes, ln.LENS_COLUMNS)
        which = np.zeros(axes, np.int64) if random is None else random.projection.reshape(axes)
        which.setflags(write=False)
        return _LensFields(lens, every[..., ln.FX : ln.FY + 1], every[..., ln.CX : ln.CY + 1], which)


def _over_time(heads: Heads) -> Heads:
    """The same heads over an interval: heads at rest have one knot, which would mean an instant."""
    return heads if len(heads.time) > 1 else heads._replace(matrix=np.repeat(heads.matrix, 3, axis=1), time=_ENDS)


def _true_already(image: DepthImage) -> DepthImage:
    """The truth of an image without errors: only its stamp may differ."""
    return replace(image, time_ns=image.start_ns)


def _arranged(pattern: Pinhole | Fisheye, place: NDArray[np.uint32]) -> RayTable:
    """The rays of a pattern in another order, in one row; a rolling image lasts until its last row."""
    table = pattern.rays()
    time_ns = table.offset_ns.reshape(-1)[place][None]
    duration_ns = int(time_ns.max()) + 1
    return RayTable(table.direction_S.reshape(-1, 3)[place][None], time_ns, None, duration_ns)
