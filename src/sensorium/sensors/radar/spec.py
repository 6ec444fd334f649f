"""Radar: an FMCW frame of a moving world, and the objects found in it."""

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import ConfigDict, Field, PositiveFloat, model_validator

from sensorium.core.spec import Spec
from sensorium.physics.radio.chirp import Chirp
from sensorium.physics.radio.interference import Interferer
from sensorium.physics.radio.permittivity import BUILDING
from sensorium.physics.radio.reflectors import CrossSection
from sensorium.sensors.common.error_group import ErrorGroup
from sensorium.sensors.common.sampled import required_rate_hz
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.sensors.common.unused_options import refuse_set
from sensorium.sensors.radar.reading import RadarReading

if TYPE_CHECKING:
    from sensorium.sensors.radar.model import RadarModel

# Cells of a frame, at most: each has a random number of its own
_MOST_CELLS = 2**24

# Rays of a bundle, at most
_MOST_RAYS = 2**22

Window = Literal["rectangular", "hann", "hamming", "blackman_harris"]
"""A key of `sn.radar.WINDOWS`."""

LABELS = {"pedestrian": 0.5, "car": 10.0, "truck": 100.0}
"""Default cross-sections of objects by label [m^2] (physics.md 13)."""


class Cfar(Spec):
    """Detection over cells around, along the range.

    Relative to a cell of some rank (ordered statistics, OS-CFAR) other echoes do not mask a target, as long as fewer
    cells are strong than rank above it. Relative to their mean (CA-CFAR) noise is estimated a little better, but an
    echo among the training cells raises the threshold by its power times factor / cells: of two equal echoes within
    reach of the training cells, each masks the other. The factor includes the correlation of neighbors by windows, so
    that `false_alarm` is the rate with any window. If ranges alias the last cell is followed by the first; else cells
    at the ends have fewer neighbors, and a factor for as many.
    """

    model_config = ConfigDict(frozen=True)

    training: int = Field(default=16, ge=2, le=256)
    """Training cells on each side, from which noise is estimated."""
    guard: int = Field(default=4, ge=0, le=64)
    """Cells on each side between them and the one under test, which an echo may spread to."""
    over: Literal["rank", "mean"] = "rank"
    """The statistic of them that the threshold is a multiple of."""
    rank: float = Field(default=0.75, gt=0.0, le=1.0)
    """Share of the cells that are smaller, for over="rank" [1]."""
    false_alarm: float = Field(default=1e-6, gt=0.0, le=0.1)
    """Probability that noise alone crosses the threshold in a cell [1]."""

    @model_validator(mode="after")
    def _consistent(self) -> "Cfar":
        if self.over != "rank":
            refuse_set(self, "rank", f"with over {self.over!r}; it acts with over 'rank' alone")
        return self


class Ground(Spec):
    """Flat ground below: its own echoes, and the second path that it adds to every echo."""

    model_config = ConfigDict(frozen=True)

    z_m: float = 0.0
    """Height of the ground in the world [m]."""
    labels: tuple[str, ...] = ("ground", "road")
    """Objects with these labels are this ground, and no targets."""
    reflectivity_dB: float | None = -30.0
    """Cross-section of a square meter (law "constant"), or gamma (law "gamma") [dB]; None has no clutter."""
    law: Literal["constant", "gamma"] = "constant"
    shape: float = Field(default=1.5, gt=0.1, le=10.0)
    """Of the Weibull law of amplitudes; 2 is Rayleigh's."""
    multipath: bool = False
    """Whether echoes also go by way of the ground."""
    material: str | PositiveFloat = "concrete"
    """Reflecting material: a name of `sn.radar.BUILDING`, or a relative permittivity [1]."""
    roughness_m: float = Field(default=0.0, ge=0.0)
    """Standard deviation of its heights [m]."""
    polarization: Literal["vertical", "horizontal"] = "vertical"

    @model_validator(mode="after")
    def _consistent(self) -> "Ground":
        _check_material("material", self.material)
        for name in ("law", "shape"):
            if self.reflectivity_dB is None:
                refuse_set(self, name, "with reflectivity_dB None; it acts on clutter alone")
        for name in ("material", "roughness_m", "polarization"):
            if not self.multipath:
                refuse_set(self, name, "without multipath; it acts on echoes by way of the ground alone")
        return self


class Radar(SensorSpec[RadarReading]):
    """An FMCW radar with an array of antennas, looking along x.

    Echoes come from a bundle of rays over the field of view, or from the nearest point of each object (`source`). Their
    power is that of the radar equation; a frame spreads them over cells of range, speed and beam as its windows do,
    adds noise and finds peaks by CFAR. Ranges, speeds and angles are the most likely ones for the cells around a peak
    (`sensorium.physics.radio.refinement`); targets beyond the unambiguous range or speed of the chirps alias.
    Cross-sections are given by object or label, or follow from the seen area and the material. `truth()` lists the
    objects in the field with their mean power, without noise, clutter, paths over the ground or aliasing. Errors of a
    device's detections are set in `range`, `speed`, `azimuth`, `elevation`, `power` and `faults`.

    A frame ends at the time of its reading; within it objects move at the velocity they have then. Ranges are those at
    its end, corrected by the measured speed. Ref: physics.md 12 and 13.

    >>> scene = sn.Scene()
    >>> car = scene.add(sn.shapes.box(4, 2, 1.5), body="car", label="car")
    >>> world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(30, 0, 0), velocity=(-10, 0, 0))}, step_s=0.05)
    >>> env = sn.Environment(scene, world)
    >>> radar = env.attach(sn.Radar(timing=sn.Timing(rate_hz=20.0), source="cone", cross_sections={"car": 10.0}))
    >>> env.step()
    >>> truth = radar.truth()
    >>> truth.range_m.round(2).tolist(), truth.range_rate_m_s.round(2).tolist()  # to its front
    ([27.5], [-10.0])
    """

    targets: ClassVar[tuple[str, ...]] = ("range", "speed", "angle", "power")

    kind: Literal["radar"] = "radar"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=20.0))
    """Clock; 20 Hz by default."""
    source: Literal["rays", "cone"] = "rays"
    """Source of echoes: all surfaces that rays hit, or the nearest point of each object in the cone of the field."""
    chirp: Chirp = Chirp()
    horizontal_fov_deg: float = Field(default=90.0, gt=0.0, lt=180.0)
    """Whole angle between the directions of half gain, beyond which no detection is reported [deg]."""
    vertical_fov_deg: float = Field(default=20.0, gt=0.0, lt=180.0)
    """Likewise up and down [deg]."""
    min_range_m: float = Field(default=0.5, gt=0.0)
    """Least reported range [m]."""
    max_range_m: PositiveFloat | None = None
    """Greatest range of echoes [m]; None is the unambiguous range of the chirps. Echoes beyond that alias."""

    # Sender and receiver
    power_W: PositiveFloat = 0.01
    """Sent while a chirp lasts [W]."""
    gain_dBi: float = 25.0
    """Of the antenna ahead; of the whole receiving array, and the mean of sending and receiving where they differ."""
    noise_figure_dB: float = Field(default=12.0, ge=0.0)
    """Of the receiver, above the thermal noise [dB]."""
    loss_dB: float = Field(default=0.0, ge=0.0)
    """Of everything between [dB]."""
    antennas: int = Field(default=8, ge=1, le=256)
    """Receivers of a row, which measure azimuth. With `chirp.transmitters` a row of the array is as many times as long:
    each transmitter is offset by one row of receivers."""
    spacing: PositiveFloat = 0.5
    """From one to the next [wavelengths]; above half a wavelength angles fold."""
    elevation_antennas: int = Field(default=1, ge=1, le=64)
    """Rows, as far from one another as antennas of a row, that elevations come from; one measures none."""
    window: Window = "hann"
    """Over the samples of a chirp, and over chirps."""
    angle_window: Window = "hamming"
    """Over antennas of a row, and over rows."""
    cfar: Cfar = Cfar()
    max_detections: int = Field(default=64, ge=1, le=4096)
    """Of more the strongest are reported."""
    range_doppler: bool = False
    """Whether readings have the range-speed map."""
    adc: bool = False
    """Whether readings have the samples of the converters; a frame then takes as long as it takes to make them."""
    interferers: tuple[Interferer, ...] = ()
    """Other radars in view; with any, frames are computed from samples as with `adc`."""

    # Source of echoes
    cross_sections: dict[str, CrossSection] = Field(default_factory=dict)
    """By name of an object, or by label: square meters, or a body of known shape in the object's frame."""
    permittivities: dict[str, PositiveFloat | str] = Field(default_factory=dict)
    """By name of an object, or by label: relative permittivity, or a name of `sn.radar.BUILDING`."""
    default_permittivity: float = Field(default=4.0, ge=1.0)
    """Of materials that have no refractive index [1]."""
    fluctuation: Literal["swerling_1", "steady"] = "swerling_1"
    """Whether echoes change from frame to frame, exponential in power, or only in phase."""
    ground: Ground | None = None
    """Clutter and ways over the ground; None has neither."""
    ray_spacing_deg: float = Field(default=0.25, ge=1e-4, le=10.0)
    """Between rays of the bundle [deg], which move from frame to frame; objects without a stated cross-section should
    be several wide."""

    # Errors of detections, whose channels are the places of the list
    range: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of range [m]."""
    speed: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of the range rate [m/s]."""
    azimuth: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of azimuth [rad]."""
    elevation: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of elevation [rad]; for radars with `elevation_antennas` above 1."""
    power: ErrorGroup = Field(default_factory=ErrorGroup)
    """Errors of received power in decibels: a bias of 3 is 3 dB, limits are in dBm. SNR and cross-section follow."""

    @property
    def virtual_antennas(self) -> int:
        """Of a row of the array: receivers times transmitters."""
        return self.antennas * self.chirp.transmitters

    @property
    def farthest_m(self) -> float:
        """Greatest range of echoes [m]."""
        return self.chirp.unambiguous_range_m if self.max_range_m is None else self.max_range_m

    @model_validator(mode="after")
    def _consistent(self) -> "Radar":
        if self.min_range_m >= self.farthest_m:
            raise ValueError(
                f"min_range_m is {self.min_range_m}; it must be below the greatest range, {self.farthest_m:g}"
            )
        if self.timing.jitter_s:
            raise ValueError(f"timing.jitter_s is {self.timing.jitter_s}; a radar's frames follow its own clock")
        period_s = 1.0 / required_rate_hz(self.timing)
        if self.chirp.frame_s > period_s:
            raise ValueError(
                f"chirp has frames of {self.chirp.frame_s:g} s; one must fit between readings, {period_s:g} s"
            )
        if self.chirp.period_s < self.chirp.ramp_s:
            raise ValueError(
                f"chirp.interval_s is {self.chirp.interval_s}; a chirp must fit, chirp.ramp_s is {self.chirp.ramp_s}"
            )
        if self.chirp.samples < 2 * self.cfar.guard + 3:
            raise ValueError(
                f"cfar.guard is {self.cfar.guard}; beyond as many on each side a threshold needs 2 cells, "
                f"chirp.samples is {self.chirp.samples}"
            )
        cells = self.chirp.samples * self.chirp.chirps * self.virtual_antennas * self.elevation_antennas
        if cells > _MOST_CELLS:
            raise ValueError(f"a frame has {cells} cells; at most {_MOST_CELLS} are allowed")
        rays = self.ray_columns * self.ray_rows
        if self.source == "rays" and rays > _MOST_RAYS:
            raise ValueError(
                f"ray_spacing_deg is {self.ray_spacing_deg}, {rays} rays; at most {_MOST_RAYS} are allowed"
            )
        if self.source != "rays":
            refuse_set(self, "ray_spacing_deg", f"with source {self.source!r}; it acts with source 'rays' alone")
        for name, material in self.permittivities.items():
            _check_material(f"permittivities.{name}", material)
        sentence = self.unmeasured_angles()
        if sentence is not None:
            raise ValueError(sentence)
        return self

    def measures(self, quantity: str) -> bool:
        """Whether it measures a quantity of detections: one antenna gives no azimuth, one row no elevation."""
        return {"azimuth": self.virtual_antennas > 1, "elevation": self.elevation_antennas > 1}.get(quantity, True)

    def unmeasured_angles(self) -> str | None:
        """The error message for errors and faults of angles that it does not measure; None if there are none."""
        angles = {"azimuth": "antennas", "elevation": "elevation_antennas"}
        for name, rows in angles.items():
            if not self.measures(name) and getattr(self, name) != ErrorGroup():
                return f"{name} has errors and {rows} is 1; that measures no {name}, it must be 2 or more"
        if not any(map(self.measures, angles)):
            for fault in self.faults.faults:
                if fault.target == "angle":
                    return "a fault's target is 'angle' with one antenna in one row; that measures no angle"
        return None

    @property
    def ray_columns(self) -> int:
        """Columns of the bundle of rays."""
        return max(1, math.ceil(self.horizontal_fov_deg / self.ray_spacing_deg))

    @property
    def ray_rows(self) -> int:
        """Rows of the bundle of rays."""
        return max(1, math.ceil(self.vertical_fov_deg / self.ray_spacing_deg))

    def start(self, rig: Rig) -> "RadarModel":
        """Put the radar to work."""
        from sensorium.sensors.radar.model import RadarModel  # imported here: its kernels load slowly

        return RadarModel(self, rig)


def _check_material(name: str, material: str | float) -> None:
    if isinstance(material, str) and material not in BUILDING:
        raise ValueError(f"{name} is {material!r}; it must be a number or one of {', '.join(BUILDING)}")
    if not isinstance(material, str) and material < 1.0:
        raise ValueError(f"{name} is {material}; a relative permittivity is at least 1")
