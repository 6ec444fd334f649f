"""Takes the images of depth cameras: casts them from the history, then runs their errors."""

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
from sensorium.runtime import threads
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.common.firing import Firing
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.depth_camera import flow_tables, tint_tables
from sensorium.sensors.depth_camera.arrays import DepthArrays
from sensorium.sensors.depth_camera.errors import STAGES
from sensorium.sensors.depth_camera.faults import BEHIND_M, DepthFaults
from sensorium.sensors.depth_camera.film import Film, Films
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.sensors.depth_camera.random_heads import RandomHeads
from sensorium.sensors.depth_camera.rays import DepthRays
from sensorium.sensors.depth_camera.stage import DepthFrame
from sensorium.sensors.depth_camera.tiles import in_tiles
from sensorium.tracing.embree.packet import BLOCK, COHERENT_ADDRESS
from sensorium.tracing.kernels.depth import lens as ln
from sensorium.tracing.kernels.depth import measure as ms
from sensorium.tracing.kernels.depth.drawing.canvas import frame
from sensorium.tracing.kernels.depth.kernel import (
    DepthDraws,
    DepthOutputs,
    Motions,
    Pixels,
    depth_images,
    measure_again,
)
from sensorium.tracing.kernels.depth.ray_jitter import RayJitter
from sensorium.tracing.kernels.light.resolve import plain_surfaces
from sensorium.tracing.kernels.sweep import Heads, RayTables
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.placement.standing import Cameras, Standing

if TYPE_CHECKING:
    from sensorium.sensors.depth_camera.depth_camera import DepthCamera

# Before all times [ns]
_ALWAYS = -(2**63)

# Normal numbers end here
_MOST_SIGMAS = 6.7

# Fractions of an interval that its ends are
_ENDS = np.array([0.0, 1.0], np.float32)

# Where no flow is asked for
_NO_MAPS = np.zeros((0, 0, 12))
_NO_MOTIONS = Motions(_NO_MAPS, _NO_MAPS)

# Where scenes were placed and cameras aimed before
_NOTHING_STANDS = Standing(np.zeros((2, 2), np.int64), np.zeros(1, np.int64), 0, np.zeros((0, 3)))
_NO_CAMERAS = Cameras(-1, np.zeros((0, 0, 3)), np.zeros((0, 0, 4)), np.zeros((0, 0, 0, 3)), np.zeros((0, 0, 0, 4)))


class _Setup(NamedTuple):
    """By what images are cast. Drawn ones have one for all, of which the kernel reads or writes what changes."""

    rays: RayTables
    heads: Heads
    anchor: NDArray[np.float64]  # (worlds, 3) [m]
    standing: Standing
    draws: DepthDraws

    def copy(self) -> "_Setup":
        """What an image can be measured by once more, when others have been drawn."""
        heads, draws = self.heads, self.draws
        return self._replace(
            heads=heads._replace(matrix=heads.matrix.copy()),
            anchor=self.anchor.copy(),
            draws=draws._replace(tick=draws.tick.copy()),
        )


class _Shot(NamedTuple):
    """By what an image was taken that may be measured once more, with a setup of its own."""

    setup: _Setup
    pixels: Pixels


class _Looks(NamedTuple):
    """What images tell of lenses."""

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
        self._pixels = Pixels(
            place=self._place,
            u=(self._place % pattern.width).astype(np.float32),
            v=(self._place // pattern.width).astype(np.float32),
            lens=lens,
            drawn=False,
            jitter=self._jitter(0.0, np.zeros(rig.worlds, np.int64)),
        )

        # What is looked up, and by what is measured
        self._see_layout()
        self._numbers, self._true_numbers, self._reach_m = _numbers(spec)
        self._noise_numbers = _without_limits(self._numbers)
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
        self._seen_through = self._looks(lens)
        near, far, dropped = _without_measurement(spec)
        self._meanings: dict[str, Any] = {
            **{"near": near, "far": far, "dropped": dropped if spec.can_drop else math.nan},
            **{"scale_m": spec.scale_m, "frame": spec.frame},
        }
        self._flows = bool({"flow", "scene_flow"} & spec.outputs)
        self._masked_for: PlacedScenes | None = None
        self._bits = np.uint32(0)

        # Rays that start together from one place through the middles of pixels are drawn
        jitters = spec.randomize is not None and spec.randomize.ray_jitter_rad > 0.0
        self._frame = frame(
            pattern.width, pattern.height, self._heads, self._layout, drawn=self.duration_ns == 0 and not jitters
        )
        self._all_drawn = self._are_all_drawn()
        self._blocks = self._heads * -(-self._count // self._frame.span)
        self._films = Films()
        self._setup: _Setup | None = None

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Some worlds were reset: what is random is drawn anew there."""
        if self._random is not None:
            self._random.restart(mask)
        if self._faults is not None:
            self._faults.restart(mask)

    def take(self, start_ns: int, tick: int, since_ns: int = _ALWAYS) -> "_Taken":
        """An image whose first row is taken at a time, and a function that gives its truth.

        Args:
            start_ns: Start [ns].
            tick: Number of the image; its random numbers belong to it alone.
            since_ns: When the camera was last switched on [ns]; its flow knows nothing of before.
        """
        if self._layout is not self._tracer.layout:  # worlds were drawn anew
            self._see_layout()
        if self._random is not None:
            self._renew(self._random, tick)
        motions = self._motions(start_ns, since_ns) if self._flows else _NO_MOTIONS
        return (self._draw if self._all_drawn else self._trace)(start_ns, tick, motions)

    # --- the cast ---------------------------------------------------------------------------------------------------

    def _draw(self, start_ns: int, tick: int, motions: Motions) -> _Taken:
        """Images whose cameras and objects are placed by whoever draws them."""
        if self._setup is None:
            self._setup = self._new_setup()
        setup, placed = self._setup, self._tracer.instants
        film = self._films.free(self._new_film)
        with placed.lock:
            self._tracer.stand(placed, start_ns, setup.standing)
            setup.draws.tick[0] = tick
            self._films.unload_unless(placed, placed.tables, self._layout, self._pixels, motions)
            cast = film.cast or film.load(*self._arguments(placed, setup, motions, film.outputs, film.cameras))

            # The reading is made of the arrays while others begin to fill them
            image = threads.share_while(
                cast, self._blocks, lambda: self._image(film.outputs, film.X_WS, self._pixels, start_ns)
            )
            placed.anchor = setup.anchor  # for which fixed objects stand there now
        if not self._arrays.need_truth:
            return image, partial(_true_already, image)

        # Measured once more when other images have been drawn
        return image, partial(self._truth, image, _Shot(setup.copy(), self._pixels), film.outputs.true_m)

    def _trace(self, start_ns: int, tick: int, motions: Motions) -> _Taken:
        """Images of scenes that are placed beforehand, and their errors."""
        end_ns, out = start_ns + self.duration_ns, self._arrays.new(self._recycler.array)
        rays, heads, anchor, _, _, X_WS = self._firing.aim(self._rays, start_ns, end_ns)
        if self.duration_ns:
            heads = _over_time(heads)
        placed = self._tracer.place_around(start_ns, end_ns, anchor)
        setup = _Setup(rays, heads, anchor, _NOTHING_STANDS, self._draws(tick))
        with placed.lock:
            threads.share(depth_images, self._blocks, *self._arguments(placed, setup, motions, out, _NO_CAMERAS))
        shot = _Shot(setup, self._pixels)
        if self._stages or self._faults is not None:
            range_m = self._corrupted(out, X_WS, shot, placed) if self._stages else out.true_m
            numbers = self._numbers
            if self._faults is not None:
                range_m, numbers = self._faults.apply(self._noisy(shot, range_m), end_ns), self._true_numbers
            out = self._arrays.with_measured(out, self._measured(shot, range_m, numbers))
        image = self._image(out, X_WS, self._pixels, start_ns)
        if not self._arrays.need_truth:
            return image, partial(_true_already, image)
        made = image
        if self._faults is not None:
            current = self._arrays.unmeasured(out)
            held = self._faults.with_held(current)
            if held is not current:
                made = replace(image, images=self._arrays.images(out._replace(**held)))
        return made, partial(self._truth, image, shot, out.true_m)

    def _arguments(
        self, placed: PlacedScenes, setup: "_Setup", motions: Motions, out: DepthOutputs, cameras: Cameras
    ) -> tuple[Any, ...]:
        """Arguments of the kernel, after those that say which blocks."""
        return (
            placed.tables,
            placed.mounts,
            setup.standing,
            cameras,
            placed.meshes,
            self._frame,
            self._tracer.labels,
            setup.anchor,
            setup.rays,
            setup.heads,
            self._pixels,
            self._surfaces,
            self._tints,
            motions,
            self._numbers,
            self._reach_m,
            self._spec.frame == "world",
            setup.draws,
            self._mask(placed),
            COHERENT_ADDRESS,
            out,
        )

    def _new_setup(self) -> "_Setup":
        """Arrays by which images are drawn: there is one set for all, since kernels know where they are."""
        worlds = self._rig.worlds
        instant = np.zeros((2, 2), np.int64), np.zeros(1, np.int64)
        standing = Standing(*instant, self._rig.history.bodies, np.empty((worlds, 3)))
        rays, heads = self._firing.stand(self._rays)
        return _Setup(rays, heads, np.empty((worlds, 3)), standing, self._draws(0))

    def _new_film(self) -> Film:
        """Arrays for images to be drawn."""
        return Film(self._arrays.new(np.empty), self._firing.cameras())

    def _jitter(self, std_rad: float, tick: NDArray[np.int64]) -> RayJitter:
        """How far rays point beside their pixels, drawn at such ticks (worlds,)."""
        return RayJitter(np.float32(std_rad), self._key, tick, self._rig.first_world, self._count)

    def _draws(self, tick: int) -> DepthDraws:
        """What random numbers of an image are counted by."""
        return DepthDraws(self._key, np.array([tick], np.int64), self._rig.first_world, self._rig.sensors)

    # --- before the cast --------------------------------------------------------------------------------------------

    def _see_layout(self) -> None:
        """Look at what objects are made of."""
        rig = self._rig
        self._layout = layout = self._tracer.layout
        self._surfaces = plain_surfaces(layout)
        colored = "color" in self._spec.outputs
        self._tints = tint_tables.tints(layout, rig.sun) if colored else tint_tables.NO_TINTS

    def _mask(self, placed: PlacedScenes) -> np.uint32:
        """Bits of the objects to see."""
        if self._masked_for is not placed:
            self._masked_for, self._bits = placed, np.uint32(placed.mask_without(self._rig.hide, air=False))
        return self._bits

    def _renew(self, drawn: RandomHeads, tick: int) -> None:
        """Poses and lenses of this image."""
        spec = self._spec.randomize
        assert spec is not None
        if not drawn.renew(tick):
            return
        if spec.placement is not None:
            self._firing.mount(drawn.X_BS.position, drawn.X_BS.quaternion)
        if spec.projections or spec.intrinsics is not None or spec.ray_jitter_rad:
            self._pixels = self._pixels._replace(
                lens=drawn.lens, drawn=True, jitter=self._jitter(spec.ray_jitter_rad, drawn.tick)
            )
            self._all_drawn = self._are_all_drawn()

    def _are_all_drawn(self) -> bool:
        """Whether no ray is traced from the top of a scene, neither for images nor for errors."""
        straight = bool((self._pixels.lens[:, ln.KIND] == ln.PINHOLE).all())
        return self._frame.drawn and straight and not self._stages and self._faults is None

    def _motions(self, start_ns: int, since_ns: int) -> Motions:
        """How bodies move as cameras see them."""
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
        return Motions(velocity, displacement)

    def _cameras(self, X_WB: Pose) -> Pose:
        """Poses of the cameras, mounted as they are now, on bodies at several times: batch (times, worlds, sensors)."""
        rig = self._rig
        X_BS = rig.X_BS.reshape((1, -1)) if self._random is None else self._random.X_BS
        on = Pose().broadcast_to((*X_WB.shape[:2], 1)) if rig.body is None else X_WB[:, :, rig.body, None]
        return on @ X_BS

    # --- after it ---------------------------------------------------------------------------------------------------

    def _measured(self, shot: "_Shot", distance_m: NDArray[np.float32], numbers: NDArray[np.float32]) -> DepthOutputs:
        """What is measured of known distances (heads, pixels) [m], by such numbers."""
        again = self._arrays.new_measured(self._recycler.array)
        self._measure(shot, distance_m, numbers, again)
        return again

    def _noisy(self, shot: "_Shot", distance_m: NDArray[np.float32]) -> NDArray[np.float32]:
        """Such distances with noise, 0 where it leaves no measurement, before limits."""
        if not (self._spec.noise.multiplier or self._spec.noise.dropout):
            return distance_m
        noisy = self._arrays.new_ranges(self._recycler.array)
        self._measure(shot, distance_m, self._noise_numbers, noisy)
        return noisy.range_m

    def _measure(
        self, shot: "_Shot", distance_m: NDArray[np.float32], numbers: NDArray[np.float32], out: DepthOutputs
    ) -> None:
        """Fill in what is asked for of known distances."""
        setup = shot.setup
        where = (setup.anchor, setup.rays, setup.heads, shot.pixels, numbers, setup.draws, distance_m, out)
        threads.share(measure_again, self._heads * -(-self._count // BLOCK), *where)

    def _truth(self, image: DepthImage, shot: "_Shot", true_m: NDArray[np.float32]) -> DepthImage:
        """An image as it would be without errors."""
        made = self._measured(shot, true_m, self._true_numbers)
        return replace(image, images={**image.images, **self._arrays.images(made)}, time_ns=image.start_ns)

    def _corrupted(self, out: DepthOutputs, X_WS: Pose, shot: "_Shot", placed: PlacedScenes) -> NDArray[np.float32]:
        """Ranges after the errors, shape (heads, pixels)."""
        rig, spec, pixels = self._rig, self._spec, shot.pixels
        lens = np.broadcast_to(pixels.lens, (self._heads, ln.LENS_COLUMNS))
        rays = DepthRays(rig, placed, lens, pixels.jitter)
        frame = DepthFrame(
            range_m=np.array(out.true_m),
            axial=self._axial(shot),
            object_id=out.object_id,
            cosine=out.cosine,
            width=spec.pattern.width,
            focal_px=lens[:, ln.FX : ln.FY + 1],
            X_WS=X_WS[0].reshape(-1),
            key=self._key,
            tick=int(shot.setup.draws.tick[0]),
            first_world=rig.first_world,
            sensors=rig.sensors,
            cast=rays.cast,
            reflectance=rays.reflectance,
        )
        for error, stage in self._stages:
            stage.apply(error, frame)
        return frame.range_m

    def _axial(self, shot: "_Shot") -> NDArray[np.float32]:
        """Depth over range of every pixel, (1 | heads, pixels), through the lenses drawn and with their jitter."""
        if not shot.pixels.drawn:
            return self._spec.pattern.rays().direction_S[..., 0].reshape(1, -1).astype(np.float32)
        ones, depths = np.ones((self._heads, self._count), np.float32), self._arrays.new_depths(self._recycler.array)
        self._measure(shot, ones, _without_limits(self._true_numbers), depths)
        return depths.depth

    def _image(self, out: DepthOutputs, X_WS: Pose, pixels: Pixels, start_ns: int) -> DepthImage:
        """The reading that a kernel's outputs make."""
        if self._seen_through[0] is not pixels.lens:
            self._seen_through = self._looks(pixels.lens)
        _, focal_px, center_px, projection = self._seen_through
        return DepthImage.trusted(
            {
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
        )

    def _looks(self, lens: NDArray[np.float64]) -> "_Looks":
        """What images tell of the lenses that all cameras look through now."""
        axes, random = self._rig.axes, self._random
        every = np.broadcast_to(lens, (self._heads, ln.LENS_COLUMNS)).reshape(*axes, ln.LENS_COLUMNS)
        which = np.zeros(axes, np.int64) if random is None else random.projection.reshape(axes)
        which.setflags(write=False)
        return _Looks(lens, every[..., ln.FX : ln.FY + 1], every[..., ln.CX : ln.CY + 1], which)


def _over_time(heads: Heads) -> Heads:
    """The same heads over an interval: of those that stand still there is one knot, which would mean an instant."""
    return heads if len(heads.time) > 1 else heads._replace(matrix=np.repeat(heads.matrix, 3, axis=1), time=_ENDS)


def _true_already(image: DepthImage) -> DepthImage:
    """The truth of an image without errors: only its stamp may be wrong."""
    return replace(image, time_ns=image.start_ns)


def _arranged(pattern: Pinhole | Fisheye, place: NDArray[np.uint32]) -> RayTable:
    """The rays of a pattern in another order, in one row; a rolling image lasts until its last row."""
    table = pattern.rays()
    time_ns = table.offset_ns.reshape(-1)[place][None]
    duration_ns = int(time_ns.max()) + 1
    return RayTable(table.direction_S.reshape(-1, 3)[place][None], time_ns, None, duration_ns)


def _without_measurement(spec: "DepthCamera") -> tuple[float, float, float]:
    """What is shown for what is too near, too far and dropped, in the image's unit."""
    return spec.near_m / spec.scale_m, spec.far_m / spec.scale_m, spec.dropped_m / spec.scale_m


def _numbers(spec: "DepthCamera") -> tuple[NDArray[np.float32], NDArray[np.float32], np.float32]:
    """What is measured by, with noise and without, and how far rays must look [m]."""
    numbers = np.zeros(ms.MEASURE_COLUMNS, np.float32)
    numbers[[ms.NEAREST, ms.FARTHEST]] = spec.min_range_m, spec.max_range_m
    numbers[[ms.NEAR, ms.FAR, ms.DROPPED]] = _without_measurement(spec)
    numbers[ms.SCALE] = 1.0 / spec.scale_m
    true = numbers.copy()
    numbers[[ms.NOISE, ms.DROPOUT]] = spec.noise.multiplier, spec.noise.dropout

    # Errors, noise and faults may carry a range inside the limits
    least = 1.0 - _MOST_SIGMAS * spec.noise.multiplier
    anywhere = spec.errors or spec.faults.corrupt or least <= 0.0
    return numbers, true, np.float32(np.inf if anywhere else spec.max_range_m / least)


def _without_limits(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same noise, on ranges of any length in meters: 0 where a pixel is dropped, infinite where nothing is met."""
    noise = numbers.copy()
    noise[[ms.NEAREST, ms.FARTHEST, ms.NEAR, ms.FAR, ms.DROPPED, ms.SCALE]] = 0.0, np.inf, BEHIND_M, np.inf, 0.0, 1.0
    return noise
