"""Camera: an ideal image of a moving world, through a real lens onto real pixels."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, PositiveFloat, model_validator

from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.files.plain_files import read_json, read_toml
from sensorium.patterns import Fisheye, Pinhole
from sensorium.patterns.base import MAX_RAYS
from sensorium.physics.imaging.auto_exposure import AutoExposure
from sensorium.physics.imaging.bands import MAX_BANDS, Band
from sensorium.physics.imaging.filters import rgb
from sensorium.physics.imaging.pixel_noise import PixelNoise
from sensorium.physics.imaging.white_balance import BalanceGains, ColorTemperature, WhiteBalance, temperature_gains
from sensorium.sensors.camera.image import CameraImage
from sensorium.sensors.common.sampled import required_rate_hz
from sensorium.sensors.common.spec import Capture, Rig, SensorSpec, Timing

SIXTEEN = (
    "pupil_distance_m",
    "width_m",
    "height_m",
    "columns",
    "rows",
    "focal_length_m",
    "pupil_radius_m",
    "exposure_s",
    "gamma",
    "vignetting_per_m",
    "spherical",
    "astigmatism",
    "curvature",
    "distortion",
    "coma",
    "gain",
)
"""The parameters that describe a camera in the VANE paper."""

TARGET = "electrons"
"""Name of the pixels' electrons as a fault target."""


class Adc(Spec):
    """A converter from electrons to codes."""

    model_config = ConfigDict(frozen=True)

    bits: int = Field(default=12, ge=1, le=16)
    """Of the converter; codes run from 0 to 2^bits - 1."""
    gain_dn_e: PositiveFloat | None = None
    """System gain K at gain 1 [DN/e-]; None brings the full well to the highest code."""
    black_dn: float = Field(default=0.0, ge=0.0)
    """Code of darkness [DN]."""

    @model_validator(mode="after")
    def _check(self) -> "Adc":
        if self.black_dn >= 2**self.bits - 1:
            raise ValueError(f"black_dn is {self.black_dn}; it must be below the highest code, {2**self.bits - 1}")
        return self


class Camera(SensorSpec[CameraImage]):
    """A CCD or CMOS camera in up to six bands, after the VANE paper and EMVA 1288.

    It looks along the sensor's x axis, with z up. An ideal image is cast on a virtual grid of `sample_factor` cells
    along each pixel: sun with shadows, sky, air. Spots of pupil rays model defocus and the five Seidel terms; then come
    vignetting, field stop and exposure, noise if there is any, faults, gain, white balance, gamma and rounding, and a
    mosaic with its colors. `read()` has the `image`, the `ideal` image and `distance_m`; `truth()` is the image of a
    perfect lens and noise-free pixels.

    The first sixteen fields are those of the paper, see `SIXTEEN`; the defocus A follows from them and from the
    distance of each point.

    >>> camera = sn.Camera.from_device("sony-imx900", columns=64, rows=48, exposure_s=2e-7)
    >>> scene = sn.Scene()
    >>> wall = scene.add(sn.shapes.box(1, 90, 90), pose=sn.Pose((9, 0, 0)), material=sn.Lambertian(reflectance=0.5))
    >>> sun = sn.fields.Sun(elevation_deg=20.0, azimuth_deg=180.0)
    >>> env = sn.Environment(scene, sn.worlds.Static(step_s=0.1), sun=sun)
    >>> sensor = env.attach(camera)
    >>> env.step()
    >>> image = sensor.read().image
    >>> image.shape, image.dtype.name, bool(0 < image.min() and image.max() < 3774)  # neither dark nor at the full well
    ((48, 64), 'uint16', True)
    """

    targets: ClassVar[tuple[str, ...]] = (TARGET,)

    kind: Literal["camera"] = "camera"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=10.0))
    """Clock; exposure of the first row begins at each tick."""

    # The sixteen: chip
    pupil_distance_m: float = Field(gt=0.0)
    """d, from the exit pupil to the chip [m]; more than the focal length."""
    width_m: float = Field(gt=0.0)
    """Of the chip's pixels together [m]."""
    height_m: float = Field(gt=0.0)
    """Likewise [m]."""
    columns: int = Field(ge=1)
    """Pixels side by side."""
    rows: int = Field(ge=1)
    """Pixels one above the other."""

    # Lens
    focal_length_m: float = Field(gt=0.0)
    """f [m]."""
    pupil_radius_m: float = Field(gt=0.0)
    """a, of the entrance pupil; the exit pupil is taken to be as large (E-35) [m]."""
    exposure_s: float = Field(gt=0.0)
    """Time that each pixel collects light [s]; with `auto_exposure` that of the first image."""
    gamma: float = Field(default=1.0, gt=0.0)
    """Exponent on the share of full scale; 0.5 brightens shadows."""
    vignetting_per_m: float = Field(default=0.0, ge=0.0)
    """alpha [1/m]."""
    spherical: float = 0.0
    """B [1/m^3]."""
    astigmatism: float = 0.0
    """C [1/m^3]."""
    curvature: float = 0.0
    """D, of the field [1/m^3]."""
    distortion: float = 0.0
    """E [1/m^3]."""
    coma: float = 0.0
    """F [1/m^3]."""

    # Electronics
    gain: PositiveFloat | tuple[PositiveFloat, ...] = 1.0
    """Of all bands, or of each [1]."""

    # Options that the paper has in its caster or leaves open
    bands: tuple[Band, ...] = Field(default_factory=rgb, min_length=1, max_length=MAX_BANDS)
    """At most six."""
    sample_factor: int = Field(default=3, ge=1)
    """Cells of the virtual grid along a pixel, m."""
    pupil_rays: int = Field(default=8, ge=1)
    """Rays through the pupil for each cell: 1 is a pinhole with distortion, else an even number; a pixel has m^2 times
    as many, all different."""
    field_stop_m: PositiveFloat | None = None
    """Radius on the chip beyond which no light comes [m]."""
    lens: Literal["seidel", "brown", "fisheye"] = "seidel"
    """Distortion model: the Seidel terms, or one of OpenCV's models with `lens_coefficients`."""
    lens_coefficients: tuple[float, ...] = ()
    """brown: k1, k2, p1, p2, k3; fisheye: k1, k2, k3, k4; none is 0."""

    # Pixels
    full_well_e: float = Field(default=10_000.0, gt=0.0)
    """Electrons that a pixel holds; at gain 1 they are full scale."""
    bits: int = Field(default=8, ge=1, le=16)
    """Of the image."""
    noise: PixelNoise | None = None
    """None is quiet."""
    adc: Adc | None = None
    """Converter before gamma, as real cameras have; None rounds once, at the end."""
    mosaic: Literal["rggb", "bggr", "grbg", "gbrg"] | None = None
    """Color filters over the pixels, for three bands."""
    demosaic: bool = True
    """Whether the image of a mosaic is turned into colors."""

    # Automatics
    auto_exposure: AutoExposure | None = None
    """Automatic exposure, which sets exposure time and gain from image to image; None leaves them fixed."""
    white_balance: WhiteBalance | None = None
    """White balance, which multiplies bands after the converter: gray_world, gains, temperature; None is off."""

    # Time
    shutter: Literal["global", "rolling"] = "global"
    """Whether all rows are exposed at once, or one after the other."""
    line_time_s: float = Field(default=0.0, ge=0.0)
    """From row to row of a rolling shutter [s]."""
    motion_blur: bool = False
    """Whether cells are spread over the exposure; else all see its middle."""

    # Surroundings
    mirror_depth: int = Field(default=4, ge=0, le=64)
    """Most mirrors along a ray's path; the last, and rough surfaces, mirror sky or ground alone."""
    ground_albedo: float = Field(default=0.2, ge=0.0, le=1.0)
    """Ground reflectance where there is no surface below, for light onto walls from below and to the camera [1]."""
    ambient_k: float = Field(default=288.15, gt=0.0)
    """Temperature of surfaces without the property "temperature", for thermal bands [K]."""
    sky_k: float = Field(default=250.0, gt=0.0)
    """Temperature of a black sky that shines like the real one, for thermal bands [K]."""
    emissivity: float = Field(default=0.95, ge=0.0, le=1.0)
    """In thermal bands, of materials that do not say [1]."""

    @model_validator(mode="after")
    def _consistent(self) -> "Camera":
        if self.pupil_distance_m <= self.focal_length_m:
            raise ValueError(
                f"pupil_distance_m is {self.pupil_distance_m} and focal_length_m {self.focal_length_m}; "
                "the chip must lie behind the focus, d > f"
            )
        if isinstance(self.gain, tuple) and len(self.gain) != len(self.bands):
            raise ValueError(f"gain has {len(self.gain)} values for {len(self.bands)} bands; it needs one, or one each")
        if self.pupil_rays > 1 and self.pupil_rays % 2:
            raise ValueError(f"pupil_rays is {self.pupil_rays}; it must be 1 or an even number")
        if self.mosaic is not None and len(self.bands) != 3:
            raise ValueError(f"mosaic is {self.mosaic!r} with {len(self.bands)} bands; it needs three")
        if self.shutter == "global" and self.line_time_s:
            raise ValueError(f"line_time_s is {self.line_time_s} with a global shutter; only a rolling one has lines")
        if self.timing.jitter_s:
            raise ValueError(f"timing.jitter_s is {self.timing.jitter_s}; a camera exposes for a while, without jitter")
        self._check_exposure()
        if isinstance(self.white_balance, BalanceGains) and len(self.white_balance.gains) != len(self.bands):
            raise ValueError(
                f"white_balance.gains has {len(self.white_balance.gains)} values for {len(self.bands)} bands; "
                "it needs one each"
            )
        if isinstance(self.white_balance, ColorTemperature):
            gains = temperature_gains(self.bands, self.white_balance.temperature_k)
            if not np.isfinite(gains).all():
                raise ValueError(
                    f"white_balance.temperature_k is {self.white_balance.temperature_k}; "
                    "a black body must shine in every band"
                )
        terms = self.spherical, self.astigmatism, self.curvature, self.distortion, self.coma
        if self.lens != "seidel" and any(terms):
            raise ValueError(f"lens is {self.lens!r} with Seidel terms; it must have one or the other")
        wanted = {"seidel": (0,), "brown": (0, 5), "fisheye": (0, 4)}[self.lens]
        if len(self.lens_coefficients) not in wanted:
            raise ValueError(
                f"lens_coefficients has {len(self.lens_coefficients)} values; lens {self.lens!r} takes {wanted[-1]}"
            )
        if self.lens_coefficients and self.timing.rate_hz is not None:
            try:
                self.projection()
            except SpecError as error:
                raise ValueError(f"lens_coefficients is {self.lens_coefficients}: {error}") from None
        cells = self.columns * self.rows * self.sample_factor**2
        if 2 * cells > MAX_RAYS:
            raise ValueError(f"the virtual grid has {cells} cells; at most {MAX_RAYS // 2} are allowed")
        return self

    def _check_exposure(self) -> None:
        """Raise ValueError unless every image is exposed and read before the next begins."""
        auto, rate_hz = self.auto_exposure, self.timing.rate_hz
        name = "exposure_s" if auto is None else "auto_exposure.max_exposure_s"
        if auto is not None and not auto.min_exposure_s <= self.exposure_s <= auto.max_exposure_s:
            raise ValueError(
                f"exposure_s is {self.exposure_s} with auto_exposure from {auto.min_exposure_s} "
                f"to {auto.max_exposure_s} s; it must lie between them, as it is what the first image has"
            )
        readout_s = self.line_time_s * self.rows
        if rate_hz is not None and (self.longest_exposure_s + readout_s) * rate_hz > 1.0 + 1e-9:
            lines = f", line_time_s {self.line_time_s} for {self.rows} rows" if readout_s else ""
            raise ValueError(
                f"{name} is {self.longest_exposure_s}{lines} and timing.rate_hz {rate_hz}; "
                f"an image must end before the next begins, after {1.0 / rate_hz:.4g} s"
            )

    @property
    def longest_exposure_s(self) -> float:
        """Longest time that a pixel may collect light [s]."""
        return self.exposure_s if self.auto_exposure is None else self.auto_exposure.max_exposure_s

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Self:
        """A camera whose fields are in one file, TOML or JSON by its suffix.

        Args:
            path: Such as camera.toml with a line for each of the sixteen parameters, and any other fields that differ
                from the defaults.
        """
        path = Path(path)
        data = read_json(path) if path.suffix.lower() == ".json" else read_toml(path)
        try:
            return cls.model_validate(data)
        except SpecError as error:
            raise SpecError(f"{path}: {error}") from None

    @property
    def pitch_m(self) -> tuple[float, float]:
        """Width and height of a pixel [m]."""
        return self.width_m / self.columns, self.height_m / self.rows

    def projection(self, *, factor: int = 1, margin: int = 0) -> Pinhole | Fisheye:
        """Directions of pixels without aberrations, or of cells of a finer grid with a margin around it."""
        width_m, height_m = self.pitch_m
        fields: dict[str, Any] = {
            "width": self.columns * factor + 2 * margin,
            "height": self.rows * factor + 2 * margin,
            "focal_px": (self.pupil_distance_m / width_m * factor, self.pupil_distance_m / height_m * factor),
            "rate_hz": required_rate_hz(self.timing),
        }
        if self.lens_coefficients:
            fields["distortion"] = self.lens_coefficients
        return Fisheye.model_validate(fields) if self.lens == "fisheye" else Pinhole.model_validate(fields)

    def start(self, rig: Rig) -> "CameraModel":
        """Put the camera to work."""
        return CameraModel(self, rig)


class CameraModel:
    """The model of a camera."""

    def __init__(self, spec: Camera, rig: Rig) -> None:
        from sensorium.sensors.camera.caster import (
            CameraCaster,  # imported here: its kernels load slowly
        )

        self._rig = rig
        self._rate = Rate(required_rate_hz(spec.timing), seconds_to_ns(spec.timing.phase_s))
        self._caster = CameraCaster(spec, rig)

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterator[Capture[CameraImage]]:
        """Images whose exposure ended after one time and up to another."""
        duration_ns = self._caster.duration_ns
        for tick in self._rate.ticks_between(after_ns - duration_ns, upto_ns - duration_ns):
            start_ns = self._rate.time_ns(tick)
            if start_ns >= since_ns:
                image, truth = self._caster.expose(start_ns, tick)
                yield Capture(image.end_ns, image, truth, tick)

    def due_ns(self, now_ns: int) -> int:
        """The end of the next exposure."""
        return self._rate.next_end_ns(now_ns, self._caster.duration_ns)

    def needs_from_ns(self, now_ns: int) -> int:
        """The start of the current exposure, at the earliest."""
        return now_ns - self._caster.duration_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart faults and automatics; rays fired before a reset are void by the history's word."""
        self._caster.restart(mask)
