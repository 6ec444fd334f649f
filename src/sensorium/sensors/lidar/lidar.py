"""Lidar: a pattern of rays, fired from a moving mount into a moving world."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, model_validator

from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.corruption import Program
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.patterns import Pattern, RayTable
from sensorium.random import stream_key
from sensorium.sensors.common.random_placement import RandomPlacement
from sensorium.sensors.common.randomization import Randomization
from sensorium.sensors.common.range_values import check_range_values
from sensorium.sensors.common.spec import Capture, Rig, SensorSpec, Timing
from sensorium.sensors.lidar.beam import Beam
from sensorium.sensors.lidar.blooming import Blooming
from sensorium.sensors.lidar.crosstalk import Crosstalk
from sensorium.sensors.lidar.detection_limit import DetectionLimit
from sensorium.sensors.lidar.errors.channel_bias import channel_biases_m
from sensorium.sensors.lidar.errors.column_jitter import ColumnJitter
from sensorium.sensors.lidar.errors.range_noise import RangeNoise
from sensorium.sensors.lidar.intensity_scale import IntensityScale
from sensorium.sensors.lidar.options import refuse_unused
from sensorium.sensors.lidar.pulse_repetition import PulseRepetition
from sensorium.sensors.lidar.range_image import RangeImages
from sensorium.sensors.lidar.range_limits import has_errors
from sensorium.sensors.lidar.receiver import Receiver
from sensorium.sensors.lidar.saturation import Saturation
from sensorium.sensors.lidar.scan import Scan
from sensorium.sensors.lidar.scan_errors import ScanErrors
from sensorium.sensors.lidar.sweep_caster import NoisySweeps, SweepCaster
from sensorium.sensors.lidar.waveform.spec import Waveform, check_bins, check_kept

if TYPE_CHECKING:
    from sensorium.sensors.lidar.light_caster import LightCaster


class Lidar(SensorSpec[Scan]):
    """A lidar in one of four modes.

    - "geometric" reports the first surface on each ray, with the errors that need no light: `noise` and `errors`.
    - "relative" follows the light: intensity is f cos(theta) [1/sr] of the surface, times the transmission of the path
      there and back and the share that the detector catches (AGX Sensor paper, corrected). Returns below the detection
      limit are dropped.
    - "radiometric" measures in watts by the lidar equation and counts photons: detection, range noise and false alarms
      follow from signal, sunlight and the receiver's noise.
    - "waveform" follows many rays over each pulse's beam, records the received power over time as a digitizer does, and
      finds returns in the record: with their widths, and two where the beam falls on an edge (VANE paper, corrected).

    With motion="rolling" every ray is fired at its own time, while sensor and bodies move; a sweep is cast when it
    ends, or piece by piece with publish="slices". With motion="snapshot" all rays of a sweep are fired at its start.

    >>> scene = sn.Scene()
    >>> room = scene.add(sn.shapes.box(20, 10, 4), label="room")
    >>> pattern = sn.patterns.Spinning(elevation_deg=(5.0, 0.0, -5.0), columns=360, rate_hz=10)
    >>> env = sn.Environment(scene, sn.worlds.Static(step_s=0.1))
    >>> lidar = env.attach(sn.Lidar(pattern=pattern))
    >>> env.step()
    >>> scan = lidar.read()
    >>> scan.range_m.shape, bool(scan.valid.all()), scan.range_m.min().round(3).item()
    ((3, 360), True, 5.0)
    """

    targets: ClassVar[tuple[str, ...]] = ("range",)

    kind: Literal["lidar"] = "lidar"
    pattern: Pattern = Field(discriminator="kind")
    """Directions and firing times of the rays."""
    timing: Timing = Timing()
    """Phase, latency and jitter of columns; the rate is the pattern's."""
    min_range_m: float = Field(default=0.0, ge=0.0)
    """Least reported range, after noise and errors [m]; a nearer surface gives no return and blocks the ray."""
    max_range_m: float = Field(default=1000.0, gt=0.0)
    """Greatest reported range, after noise and errors [m]; a farther surface gives no return."""
    motion: Literal["rolling", "snapshot"] = "rolling"
    """Whether rays are fired one by one while everything moves, or all at once."""
    publish: Literal["sweeps", "slices"] = "sweeps"
    """Whether readings are whole sweeps, or after each step the columns fired in it."""
    frame: Literal["sensor", "world"] = "sensor"
    """Frame of the points."""
    normalize: bool | None = None
    """Whether range images, `Scan.range_image`, are fractions of the greatest range; False gives meters. None gives
    meters if one of the two values below is given, otherwise no range images. Ranges and points of a scan are always in
    meters."""
    near_value_m: float | None = None
    """Value of range images for a surface nearer than the least range [m]; None is minus the greatest range, -1 when
    normalized."""
    far_value_m: float | None = None
    """Value of range images where nothing returned [m]; None is the greatest range, 1 when normalized."""
    randomize: Randomization | None = None
    """Mount pose of each lidar of each world, drawn at the start and at resets or for every sweep; scans and truth
    report the drawn pose."""
    noise: RangeNoise = RangeNoise()
    """Noise and bias of ranges, noise of ray directions, dropout."""
    normals: bool = False
    """Whether a geometric lidar reports surface normals too."""
    errors: tuple[AnyCorruption, ...] = ()
    """Permanent errors of the ranges of every sweep, such as dead channels; `faults` are temporary."""
    mode: Literal["geometric", "relative", "radiometric", "waveform"] = "geometric"
    """Model of a return: first surface, relative intensity, power in watts, or whole waveform."""

    # The options below act only in modes that follow light, and are refused in others: see options.py
    beam: Beam = Beam()
    """The laser beam and its detector."""
    intensity: IntensityScale = IntensityScale()
    """Scale on which intensity is reported."""
    receiver: Receiver = Receiver()
    """For mode="radiometric" and mode="waveform"."""
    waveform: Waveform = Waveform()
    """For mode="waveform"."""
    max_depth: int = Field(default=0, ge=0, le=8)
    """Number of interfaces that a ray is followed through: 0 gives no ghosts and nothing behind glass; fog banks have
    no interfaces."""
    floor: float = Field(default=1e-8, ge=0.0)
    """A branch that leaves an interface with less than this share of the light is not followed."""
    detection: DetectionLimit | Literal["typical"] | None = "typical"
    """Detection limit from stated ranges; "typical" is `DetectionLimit()`, a 10 % target at 100 m, in mode="relative"
    and no limit in other modes; None detects every return. Where photons are counted, a given limit replaces
    `receiver.noise_electrons`."""
    threshold: float = Field(default=0.0, ge=0.0)
    """Least intensity of a return, in the unit of the intensity."""
    returns: Literal["strongest", "first", "last", "dual", "all"] = "strongest"
    """Which returns of a ray are reported; dual: strongest and last; all: the `max_returns` strongest, nearest
    first."""
    max_returns: int = Field(default=3, ge=1, le=8)
    """Greatest number of returns per ray, for returns="all" only."""
    round_trip: bool = True
    """Losses count on the way there and back; False counts them once, as printed in the paper."""
    divergence: Literal["exact", "agx"] = "exact"
    """Power the detector catches in mode="relative": the exact integral, or the paper's eq. 21."""
    atmospheric_returns: Literal["strongest", "priority", "off"] = "strongest"
    """Whether a return from the air competes by its strength or always wins; waveforms add it or omit it."""
    atmospheric_law: tuple[PositiveFloat, PositiveFloat, Annotated[float, Field(ge=0.0, le=1.0)]] | None = None
    """Shape, scale [m] and probability of returns from the atmosphere, where they are known for this sensor; they are
    subject to the detection limit: use detection=None if the law already counts detected returns only."""
    calibrated_index: float | None = Field(default=None, ge=1.0)
    """Refractive index the sensor assumes: range is optical path over this; None is that of the atmosphere."""
    saturation: Saturation | None = None
    """Saturation of the receiver by strong returns: clipped intensity and shortened range; None for none."""
    blooming: Blooming | None = None
    """Stray light around retroreflectors; None for none."""
    repetition: PulseRepetition | None = None
    """Range folding: returns that arrive after the next pulse has left; None for none."""
    crosstalk: Crosstalk | None = None
    """Pulses of other lidars of the environment; None for none."""

    @property
    def strong_light(self) -> tuple[str, ...]:
        """The effects of strong light that are set."""
        names = ("saturation", "blooming", "repetition", "crosstalk")
        return tuple(name for name in names if getattr(self, name) is not None)

    @property
    def has_range_images(self) -> bool:
        """Whether scans have range images."""
        return any(value is not None for value in (self.normalize, self.near_value_m, self.far_value_m))

    @model_validator(mode="after")
    def _consistent(self) -> "Lidar":
        if self.min_range_m >= self.max_range_m:
            raise ValueError(
                f"min_range_m is {self.min_range_m} and max_range_m {self.max_range_m}; the first must be smaller"
            )
        if self.motion == "snapshot" and self.publish == "slices":
            raise ValueError("publish is 'slices' with motion 'snapshot'; a snapshot has no slices")
        if self.timing.jitter_s and self.motion == "snapshot":
            raise ValueError(f"timing.jitter_s is {self.timing.jitter_s} with motion 'snapshot'; it has no columns")
        if self.publish == "slices" and (self.errors or self.faults.faults):
            raise ValueError("publish is 'slices' with errors or faults; they act on whole sweeps")
        self._check_channel_bias()
        if self.timing.rate_hz is not None and self.timing.rate_hz != self.pattern.rate_hz:
            raise ValueError(
                f"timing.rate_hz is {self.timing.rate_hz}; a lidar sweeps at its pattern's rate, {self.pattern.rate_hz}"
            )
        check_range_values(self)
        if self.randomize is not None:
            self.randomize.check_without_lens()
        refuse_unused(self)
        if isinstance(self.detection, DetectionLimit):
            self._check_detection()
        if self.mode == "waveform":
            self._check_waveform()
        self._check_strong_light()
        return self

    def _check_channel_bias(self) -> None:
        """Refuse biases of channels that the pattern or slices do not fit."""
        if self.publish == "slices" and self.noise.biases_channels:
            raise ValueError("publish is 'slices' with a bias of channels; it acts on whole sweeps")
        if given := len(self.noise.channel_bias_m):
            channels = self.pattern.rays(0).shape[0]
            if given != channels:
                raise ValueError(f"noise.channel_bias_m has {given} entries; it needs one per channel, {channels}")

    def _check_detection(self) -> None:
        """Refuse two statements of the receiver's noise."""
        if self.mode != "relative" and self.receiver.noise_electrons != Receiver().noise_electrons:
            raise ValueError(
                f"receiver.noise_electrons is {self.receiver.noise_electrons} and detection is given, from which that "
                "noise follows; give one of them, or detection=None"
            )

    def _check_strong_light(self) -> None:
        """Refuse effects of strong light that other options exclude."""
        for name in self.strong_light:
            if name in ("blooming", "crosstalk") and self.publish == "slices":
                raise ValueError(f"{name} is given with publish 'slices'; it acts on whole sweeps")
        if self.crosstalk is not None and self.motion == "snapshot":
            raise ValueError("crosstalk is given with motion 'snapshot'; a snapshot has no firing times")
        if self.crosstalk is not None and self.timing.jitter_s:
            raise ValueError(f"crosstalk is given with timing.jitter_s {self.timing.jitter_s}; it needs even columns")
        if self.crosstalk is not None and self.randomize is not None:
            raise ValueError("crosstalk is given with randomize; it needs lidars whose placement is known, not drawn")
        if self.repetition is not None and self.max_range_m > self.repetition.unambiguous_m:
            raise ValueError(
                f"max_range_m is {self.max_range_m} and repetition.rate_hz {self.repetition.rate_hz}; the range must "
                f"not exceed the unambiguous range, {self.repetition.unambiguous_m:.6g} m"
            )

    def _check_waveform(self) -> None:
        """Refuse a window that is shorter than a pulse."""
        waveform, length_s = self.waveform, self.beam.pulse_s
        if waveform.pulse.kind == "table":
            length_s = waveform.pulse.time_s[-1] - waveform.pulse.time_s[0]
        stop_s = 2.0 * self.max_range_m / SPEED_OF_LIGHT_M_S if waveform.stop_s is None else waveform.stop_s
        if stop_s - waveform.start_s < length_s:
            raise ValueError(
                f"waveform.start_s is {waveform.start_s} and waveform.stop_s {stop_s:.4g}; "
                f"the time window must be no shorter than the pulse, {length_s:.4g} s"
            )
        check_bins("waveform.resolution_s", waveform.resolution_s, stop_s - waveform.start_s)
        if waveform.keep:
            pulses = int(np.prod(self.pattern.rays(0).shape))
            check_kept(waveform, pulses, int((stop_s - waveform.start_s) / waveform.resolution_s))

    def start(self, rig: Rig) -> "LidarModel":
        """Create the attached lidar."""
        return LidarModel(self, rig)


class LidarModel:
    """A lidar attached to an environment."""

    def __init__(self, spec: Lidar, rig: Rig) -> None:
        self._spec = spec
        self._rig = rig
        self._geometry: SweepCaster | None = None
        self._noisy: NoisySweeps | None = None
        self._light: LightCaster | None = None
        self._images = RangeImages(spec) if spec.has_range_images else None
        self._placement: RandomPlacement | None = None
        if spec.randomize is not None:
            key = stream_key(rig.seed, f"{rig.name}/placement")
            self._placement = RandomPlacement(spec.randomize, rig, key)
        if spec.mode == "geometric":
            self._geometry = SweepCaster(
                rig,
                spec.min_range_m if self._images is None else 0.0,
                spec.max_range_m,
                in_world=spec.frame == "world",
                normals=spec.normals,
                worlds_differ=self._placement is not None,
            )
            self._noisy = NoisySweeps(spec, rig, self._geometry) if has_errors(spec.noise) else None
        else:
            from sensorium.sensors.lidar import light_caster  # imported on use: its kernels load slowly

            self._light = light_caster.LightCaster(spec, rig)
        self._rate = Rate(spec.pattern.rate_hz, seconds_to_ns(spec.timing.phase_s))
        first = spec.pattern.rays(0)
        self._duration_ns = first.duration_ns
        self._past_ns = 0 if spec.motion == "snapshot" else first.duration_ns
        self._every_sweep = first if spec.pattern.cycle == 1 else None
        self._errors: ScanErrors | None = None
        if spec.errors or spec.faults.faults or spec.noise.biases_channels:
            biases_m = channel_biases_m(spec.noise, rig, first.shape[0]) if spec.noise.biases_channels else None
            returns = {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1) if spec.mode != "geometric" else 1
            rays, period_s = int(np.prod(first.shape)), 1.0 / spec.pattern.rate_hz
            limits_m = (spec.min_range_m, spec.max_range_m)
            self._errors = ScanErrors(rig, rays, returns, period_s, limits_m, spec.errors, spec.faults, biases_m)
        self._jitter = ColumnJitter(spec.timing, rig.seed, rig.name) if spec.timing.jitter_s else None
        self._pieces = 0

    @property
    def program(self) -> Program | None:
        """The chain of its `errors` and faults, if there is one."""
        return None if self._errors is None else self._errors.program

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterator[Capture[Scan]]:
        """Sweeps, slices or snapshots completed after one time and up to another."""
        if self._spec.motion == "snapshot":
            for tick in self._rate.ticks_between(after_ns, upto_ns):
                yield self._snapshot(tick)
        elif self._spec.publish == "slices":
            yield from self._slices(after_ns, upto_ns, since_ns)
        else:
            for tick in self._rate.ticks_between(after_ns - self._duration_ns, upto_ns - self._duration_ns):
                if self._rate.time_ns(tick) >= since_ns:
                    yield self._sweep(tick)

    def due_ns(self, now_ns: int) -> int:
        """The end of the next sweep; slices come with every step."""
        return now_ns + 1 if self._spec.publish == "slices" else self._rate.next_end_ns(now_ns, self._past_ns)

    def needs_from_ns(self, now_ns: int) -> int:
        """The earliest time still needed: the start of the current sweep."""
        return now_ns - self._past_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the errors and draw placements again; the history marks rays fired before a reset as void."""
        if self._placement is not None:
            self._placement.restart(mask)
        if self._errors is not None:
            self._errors.restart(mask)

    def _rays(self, tick: int) -> RayTable:
        """Rays of a sweep; the pattern is evaluated again only if rays differ from sweep to sweep."""
        table = self._spec.pattern.rays(tick) if self._every_sweep is None else self._every_sweep
        return table if self._jitter is None else self._jitter.moved(table, tick)

    def _snapshot(self, tick: int) -> Capture[Scan]:
        at_ns = self._rate.time_ns(tick)
        self._place(tick)
        return self._capture(self._rays(tick), at_ns, at_ns, tick)

    def _sweep(self, tick: int) -> Capture[Scan]:
        start_ns = self._rate.time_ns(tick)
        self._place(tick)
        return self._capture(self._rays(tick), start_ns, start_ns + self._duration_ns, tick)

    def _slices(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterator[Capture[Scan]]:
        """Columns whose last ray fired in [after, upto), sweep by sweep."""
        for tick in self._rate.ticks_between(after_ns - self._duration_ns - 1, upto_ns):
            table, sweep_ns = self._rays(tick), self._rate.time_ns(tick)
            complete_ns = sweep_ns + table.offset_ns.max(axis=0)
            begun_ns = sweep_ns + table.offset_ns.min(axis=0)
            columns = np.flatnonzero((complete_ns >= after_ns) & (complete_ns < upto_ns) & (begun_ns >= since_ns))
            if not len(columns):
                continue
            start_ns, end_ns = int(begun_ns[columns].min()), int(complete_ns[columns].max()) + 1
            piece = RayTable(
                table.direction_S[:, columns],
                table.offset_ns[:, columns] - (start_ns - sweep_ns),
                None if table.origin_S is None else table.origin_S[:, columns],
                end_ns - start_ns,
            )
            self._place(tick)
            yield self._capture(piece, start_ns, end_ns, self._pieces)
            self._pieces += 1

    def _place(self, tick: int) -> None:
        """Draw the mount poses of a sweep; its slices share the draw."""
        if self._placement is not None and self._placement.renew(tick):
            caster = self._light or self._geometry
            assert caster is not None
            caster.mount(self._placement.X_BS)

    def _capture(self, table: RayTable, start_ns: int, end_ns: int, tick: int) -> Capture[Scan]:
        """Cast and corrupt a sweep; a geometric sweep without noise is its own truth."""
        caster = self._light or self._noisy
        if caster is None:
            assert self._geometry is not None
            ideal = self._geometry.cast(table, start_ns, end_ns)
            return Capture(end_ns, self._published(ideal, table), lambda: self._true(ideal), tick)
        scan, truth = caster.cast(table, start_ns, end_ns, tick)
        return Capture(end_ns, self._published(scan, table), lambda: self._true(truth()), tick)

    def _true(self, ideal: Scan) -> Scan:
        """The truth of a sweep, with its range image if there is one."""
        return ideal if self._images is None else self._images.add(*self._images.split(ideal))

    def _published(self, scan: Scan, table: RayTable) -> Scan:
        """The sweep as reported: with its errors and its range image, stamped by the sensor's clock."""
        near: NDArray[np.bool_] | None = None
        if self._images is not None:
            scan, near = self._images.split(scan)
            if self._light is not None and self._light.too_near is not None:
                near = near | self._over_returns(self._light.too_near, scan)
        if self._errors is not None:
            scan = self._errors.apply(scan, table)
        if self._images is not None and near is not None:
            scan = self._images.add(scan, near if self._errors is None else near | self._errors.too_near)
        if not self._rig.keeps_time:
            errors = self._rig.timing_errors(scan.end_ns)
            offset_ns = seconds_to_ns(errors.clock_offset_s)
            scan = replace(scan, clock_offset_ns=offset_ns, clock_skew=errors.skew_ppm * 1e-6)
        return scan

    def _over_returns(self, of_rays: NDArray[np.bool_], scan: Scan) -> NDArray[np.bool_]:
        """A mask of rays in the shape of the returns; false where a ray has any return."""
        if self._spec.returns not in ("dual", "all"):
            return of_rays & ~scan.valid
        return np.broadcast_to((of_rays & ~scan.valid.any(axis=-3))[..., None, :, :], scan.valid.shape)
