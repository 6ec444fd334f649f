"""Exposes a camera's image: casts the ideal image from the history, then runs its stages."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import seconds_to_ns
from sensorium.core.frames import Pose
from sensorium.patterns import RayTable
from sensorium.random import Stream
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.camera.camera import TARGET, Camera
from sensorium.sensors.camera.image import CameraImage
from sensorium.sensors.camera.image_faults import ImageFaults
from sensorium.sensors.camera.pipeline import Frame, Pipeline
from sensorium.sensors.camera.settings import Automatics, Settings
from sensorium.sensors.camera.tables import picture_tables, surfaces, wavelengths_of
from sensorium.sensors.common.firing import Firing
from sensorium.sensors.common.sampled import required_rate_hz
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.kernels.camera.picture import PictureOutputs, picture
from sensorium.tracing.kernels.sweep import SweepScene


class CameraCaster:
    """Casts and processes images, for every world and every camera of a rig."""

    def __init__(self, spec: Camera, rig: Rig) -> None:
        self._spec, self._rig = spec, rig
        wavelength_m = wavelengths_of(spec.bands, rig.sun, spec.ambient_k)
        self.pipeline = Pipeline(spec, wavelength_m, Stream(rig.seed, rig.name))
        self._layout = rig.tracer.layout
        self._tables = picture_tables(spec, self._layout, rig.atmosphere, rig.sun, wavelength_m)
        longest_ns = _exposure_ns(spec.longest_exposure_s)
        self.duration_ns = longest_ns + seconds_to_ns(spec.line_time_s * (spec.rows - 1))
        """From the start of the first row's exposure to the end of the last row's, at the longest exposure [ns]."""
        self._moving = spec.shutter == "rolling" or spec.motion_blur
        self.rays = self._virtual_rays()
        self._last_rays: tuple[int, RayTable] | None = None
        self._automatics = Automatics(spec, self.pipeline, rig.worlds * rig.sensors)
        self._warned = False
        forward = self.rays.direction_S[..., 0]
        self._axial = self._inner(np.ones_like(forward) if spec.lens == "fisheye" else forward)
        self._firing = Firing(rig)
        self._recycler = Recycler()
        self._faults: ImageFaults | None = None
        if spec.faults.corrupt:
            numbers = spec.rows * spec.columns * (1 if spec.mosaic is not None else len(spec.bands))
            period_s = 1.0 / required_rate_hz(spec.timing)
            self._faults = ImageFaults(rig, numbers, period_s, spec.faults, target=TARGET)

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Some worlds were reset: restart automatic exposure and pixel errors there."""
        self._automatics.restart(np.flatnonzero(np.repeat(mask, self._rig.sensors)))
        if self._faults is not None:
            self._faults.restart(mask)

    def expose(self, start_ns: int, tick: int) -> tuple[CameraImage, Callable[[], CameraImage]]:
        """An image whose exposure begins at a time, and a function that gives its truth.

        Args:
            start_ns: Start of the first row's exposure [ns].
            tick: Number of the image; its random numbers belong to it alone.
        """
        rig, spec = self._rig, self._spec
        settings = tuple(self._automatics.settings)
        ideal, inverse, X_WS = self.cast(start_ns)
        electrons = []
        for head in range(rig.worlds * rig.sensors):
            world, sensor = divmod(head, rig.sensors)
            frame = Frame(tick, sensor, rig.first_world + world)
            electrons.append(self.pipeline.exposed(ideal[head], inverse[head], frame, settings[head]))
        self._warn_if_saturated(electrons)
        if self._faults is not None:
            electrons = self._with_faults(electrons, self._faults, start_ns + self.duration_ns)
        images, codes = zip(*map(self.pipeline.developed, electrons, settings), strict=True)
        whole = np.repeat(rig.history.valid_from_ns <= start_ns, rig.sensors)  # no reset since the image began
        for head in np.flatnonzero(whole).tolist():
            self._automatics.follow(head, electrons[head])
        raw = None if codes[0] is None else self._organized(_stacked(codes))
        made = CameraImage(
            image=self._organized(_stacked(images)),
            raw=raw,
            ideal=self._organized(self._inner(ideal)),
            inverse_depth=self._organized(self._inner(inverse)),
            axial=self._axial,
            bands=tuple(band.name for band in spec.bands),
            start_ns=start_ns,
            end_ns=start_ns + self.duration_ns,
            time_ns=rig.stamp_ns(start_ns, known_ns=start_ns + self.duration_ns),
            X_WS=X_WS,
            exposure_s=self._organized(np.array([one.exposure_s for one in settings])),
            gain=self._organized(np.array([one.gain for one in settings])),
            balance=self._organized(
                np.array([np.ones(len(spec.bands)) if one.balance is None else one.balance for one in settings])
            ),
            make_stages=lambda: list(
                self.pipeline.stages(ideal[0], inverse[0], Frame(tick, 0, rig.first_world), settings[0])
            ),
        )
        return made, lambda: self._truth(made, ideal, settings)

    def cast(self, start_ns: int) -> tuple[NDArray[np.float32], NDArray[np.float32], Pose]:
        """Ideal images and inverse depths with their margins, one a head, and the cameras' poses."""
        rig = self._rig
        if self._layout is not rig.tracer.layout:  # worlds were redrawn
            self._layout = rig.tracer.layout
            self._tables = self._tables._replace(
                **surfaces(self._layout, self._spec.bands, self._tables.surfaces.material)
            )
        heads, count, bands = rig.worlds * rig.sensors, self.rays.offset_ns.size, len(self._spec.bands)
        out = PictureOutputs(
            radiance=self._recycler.array((heads, count, bands), np.float32),
            inverse_depth=self._recycler.array((heads, count), np.float32),
        )
        exposure_ns = np.array([_exposure_ns(one.exposure_s) for one in self._automatics.settings])
        parts = [
            (which, self._cast_heads(start_ns, one_ns, which, out))
            for one_ns in np.unique(exposure_ns).tolist()
            for which in (np.flatnonzero(exposure_ns == one_ns),)
        ]
        shape = (heads, *self.rays.shape)
        return out.radiance.reshape((*shape, bands)), out.inverse_depth.reshape(shape), _poses(parts)

    def _cast_heads(self, start_ns: int, exposure_ns: int, which: NDArray[np.intp], out: PictureOutputs) -> Pose:
        """Cast some heads, which are exposed equally long; poses of all cameras meanwhile."""
        every = len(which) == len(out.radiance)
        if self._moving:
            begin_ns, end_ns = start_ns, start_ns + self.duration_ns
        else:
            begin_ns = end_ns = start_ns + exposure_ns // 2
        aim = self._firing.aim(self._rays_at(exposure_ns), begin_ns, end_ns)
        placed = self._rig.tracer.place_around(begin_ns, end_ns, aim.anchor)
        part, of_part = out, aim.for_kernel
        if not every:
            part = PictureOutputs(*(np.empty((len(which), *array.shape[1:]), np.float32) for array in out))
            heads = aim.heads._replace(
                matrix=aim.heads.matrix[which], world=aim.heads.world[which], start=aim.heads.start[which]
            )
            of_part = of_part._replace(heads=heads)
        with placed.lock:
            worker_pool.run(
                picture,
                aim.blocks // len(out.radiance) * len(which),
                SweepScene(placed.tables, self._rig.tracer.labels, placed.masks_of_sweep(self._rig.hide)),
                of_part,
                self._tables,
                self._spec.lens != "fisheye",
                self._spec.mirror_depth,
                part,
            )
        if not every:
            for array, found in zip(out, part, strict=True):
                array[which] = found
        return aim.X_WS

    def _warn_if_saturated(self, electrons: Sequence[NDArray[np.float32]]) -> None:
        """Warn once if an image is saturated everywhere and automatic exposure cannot reduce it any further."""
        auto = self._spec.auto_exposure
        for head, one in enumerate(electrons):
            settings = self._automatics.settings[head]
            at_limit = auto is None or settings.exposure_s <= auto.min_exposure_s
            if not self._warned and at_limit and self.pipeline.is_saturated(one, settings):
                self._warned = True
                name = "exposure_s" if auto is None else "auto_exposure.min_exposure_s"
                rule = f"{name}, gain or pupil_radius_m must be smaller for it to show anything"
                warnings.warn(
                    f"sensor {self._rig.name!r} has an image that is saturated through and through, exposed for "
                    f"{settings.exposure_s:g} s; {rule}",
                    stacklevel=2,
                )

    def _with_faults(
        self, electrons: list[NDArray[np.float32]], faults: ImageFaults, time_ns: int
    ) -> list[NDArray[np.float32]]:
        """Electrons of all heads with the errors at a time: 0 for a pixel without a value, at most the full well."""
        healthy = np.stack(electrons).reshape(len(electrons), -1)
        x = healthy.astype(np.float64)
        faults.apply(x, time_ns)
        struck = x != healthy
        x[struck] = np.nan_to_num(np.minimum(x[struck], self._spec.full_well_e), neginf=0.0)
        return list(x.astype(np.float32).reshape(len(electrons), *electrons[0].shape))

    def _truth(self, made: CameraImage, ideal: NDArray[np.float32], settings: tuple[Settings, ...]) -> CameraImage:
        """The same exposure through a perfect lens onto quiet pixels."""
        images = [self.pipeline.unspoilt(*each) for each in zip(self._inner(ideal), settings, strict=True)]
        return replace(made, image=self._organized(_stacked(images)), raw=None, time_ns=made.start_ns)

    def _virtual_rays(self) -> RayTable:
        """Rays through the cells of the virtual grid and its margin, each at its time within the exposure."""
        spec, margin = self._spec, self.pipeline.table.margin
        direction_S = spec.projection(factor=spec.sample_factor, margin=margin).rays().direction_S
        time_ns = self._times_ns(direction_S.shape[:2], _exposure_ns(spec.exposure_s))
        return RayTable(direction_S, time_ns, None, self.duration_ns)

    def _rays_at(self, exposure_ns: int) -> RayTable:
        """The same rays, each at its time within another exposure; the last is kept."""
        if not self._moving or exposure_ns == _exposure_ns(self._spec.exposure_s):
            return self.rays
        if self._last_rays is None or self._last_rays[0] != exposure_ns:
            self._last_rays = exposure_ns, replace(self.rays, offset_ns=self._times_ns(self.rays.shape, exposure_ns))
        return self._last_rays[1]

    def _times_ns(self, shape: tuple[int, ...], exposure_ns: int) -> NDArray[np.int64]:
        """Sampling times of cells [ns] in an exposure of this length; one if all cells sample together."""
        spec, m, margin = self._spec, self._spec.sample_factor, self.pipeline.table.margin
        if not self._moving:
            return np.zeros(shape, np.int64)
        i, j = np.arange(shape[0]) - margin, np.arange(shape[1]) - margin
        row = np.clip(i // m, 0, spec.rows - 1)
        share = _shares(i[:, None], j[None, :], m) if spec.motion_blur else np.full(shape, 0.5)
        time_ns = np.rint(row[:, None] * (spec.line_time_s * 1e9) + share * exposure_ns).astype(np.int64)
        return np.minimum(time_ns, self.duration_ns - 1)

    def _inner(self, array: NDArray[Any]) -> NDArray[Any]:
        """Cells of the pixels, without the margin: of one image (rows, columns), or of several heads."""
        margin = self.pipeline.table.margin
        rows = slice(margin, margin + self._spec.rows * self._spec.sample_factor)
        columns = slice(margin, margin + self._spec.columns * self._spec.sample_factor)
        return array[rows, columns] if array.ndim == 2 else array[:, rows, columns]

    def _organized(self, heads: NDArray[Any]) -> NDArray[Any]:
        """Requested axes of worlds and sensors."""
        return heads.reshape((*self._rig.axes, *heads.shape[1:]))


def _exposure_ns(exposure_s: float) -> int:
    """An exposure time [ns], at least one."""
    return max(seconds_to_ns(exposure_s), 1)


def _poses(parts: Sequence[tuple[NDArray[np.intp], Pose]]) -> Pose:
    """Poses of all cameras, each from the part that its head belongs to."""
    if len(parts) == 1:
        return parts[0][1]
    arrays = []
    for name in ("position", "quaternion"):
        found = np.array(getattr(parts[0][1], name))
        knots, size = found.shape[0], found.shape[-1]
        for which, X_WS in parts:
            found.reshape(knots, -1, size)[:, which] = getattr(X_WS, name).reshape(knots, -1, size)[:, which]
        arrays.append(found)
    return Pose._trusted(*arrays)


def _shares(i: NDArray[np.int64], j: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """When within the exposure each cell looks, as a share of it.

    The m^2 cells of a pixel take one even stretch each; where in it differs from pixel to pixel by a sequence that
    fills the plane evenly (Roberts' generalized golden ratio), so that a moving edge leaves no bands.
    """
    cell = (i % m) * m + j % m
    order = (cell * _coprime(m * m)) % (m * m)
    within = (0.7548776662466927 * (j // m) + 0.5698402909980532 * (i // m)) % 1.0
    return np.asarray((order + within) / (m * m))


def _coprime(count: int) -> int:
    """A step through all of `count` items that leaves neighbors far apart."""
    step = max(1, round(count * 0.618))
    while np.gcd(step, count) > 1:
        step += 1
    return step


def _stacked(arrays: Sequence[Any]) -> NDArray[Any]:
    """One array of all heads; a single one is not copied."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)
