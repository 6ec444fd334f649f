"""From the ideal image to the camera's output: the stages of `sensorium.physics.imaging` in their order."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.imaging.digitize import digitized, share_of_full_scale
from sensorium.physics.imaging.exposure import electrons_per_radiance, relative_illumination
from sensorium.physics.imaging.mosaic import demosaiced, mosaic
from sensorium.physics.imaging.pixel_noise import FixedPattern, fixed_pattern, noisy_electrons
from sensorium.physics.imaging.spot_gather import pixel_means
from sensorium.physics.imaging.spots import SpotTable, spot_table
from sensorium.physics.optics.lenses.seidel import Seidel
from sensorium.random import Stream
from sensorium.sensors.camera.settings import Settings, first_settings

if TYPE_CHECKING:
    from sensorium.sensors.camera.camera import Camera

Float = NDArray[np.float32]


class Frame(NamedTuple):
    """Identity of the image, which keys its randomness."""

    tick: int
    sensor: int
    world: int


class Pipeline:
    """Stages of one camera, with their state from image to image."""

    def __init__(self, spec: "Camera", wavelength_m: tuple[float, ...], stream: Stream) -> None:
        self.spec = spec
        self._stream = stream
        self._patterns: dict[tuple[int, int], FixedPattern] = {}
        self.first_settings = first_settings(spec)
        self.table = _spots(spec)
        pitch = spec.pitch_m
        self.illumination = relative_illumination(
            columns=spec.columns,
            rows=spec.rows,
            pitch_m=pitch,
            factor=spec.sample_factor,
            focal_length_m=spec.focal_length_m,
            falloff_per_m=spec.vignetting_per_m,
            field_stop_m=spec.field_stop_m,
            cosine=spec.lens != "fisheye",
        )
        self.electrons_per_radiance = np.array(
            [
                electrons_per_radiance(
                    pupil_radius_m=spec.pupil_radius_m,
                    pupil_distance_m=spec.pupil_distance_m,
                    area_m2=pitch[0] * pitch[1],
                    exposure_s=spec.exposure_s,
                    wavelength_m=one,
                )
                for one in wavelength_m
            ],
            np.float32,
        )
        gains = spec.gain if isinstance(spec.gain, tuple) else (spec.gain,) * len(spec.bands)
        self._gain = np.array(gains, np.float32)
        self._gain = self._of_pixels(self._gain)
        bands = np.arange(len(spec.bands))
        shape = (spec.rows, spec.columns, 1 if spec.mosaic is not None else len(spec.bands))
        self.band = np.broadcast_to(self._of_pixels(bands), shape)
        """Band of each number of an image, before the mosaic is demosaicked."""

    def _of_pixels(self, of_bands: NDArray[Any]) -> NDArray[Any]:
        """Values of each band at each pixel of a mosaic; unchanged without a mosaic."""
        if self.spec.mosaic is None:
            return of_bands
        whole = np.broadcast_to(of_bands, (self.spec.rows, self.spec.columns, 3))
        return mosaic(whole, self.spec.mosaic)[..., None]

    def pixels(self, ideal: Float, inverse_depth: Float) -> Float:
        """Mean radiance on each pixel through the lens; both images with their margin."""
        out = np.empty((self.spec.rows, self.spec.columns, ideal.shape[-1]), np.float32)
        pixel_means(ideal, inverse_depth, self.table, out)
        return out

    def electrons(self, pixels: Float, settings: Settings | None = None) -> Float:
        """Mean electrons from light, with vignetting and field stop: (rows, columns, bands), one band for a mosaic."""
        found = pixels * self.illumination[..., None]
        found *= self._per_radiance(settings)
        return found if self.spec.mosaic is None else mosaic(found, self.spec.mosaic)[..., None]

    def _per_radiance(self, settings: Settings | None) -> Float:
        """Electrons for each W/m^2/sr in each band, at an exposure time."""
        exposure_s = (settings or self.first_settings).exposure_s
        return self.electrons_per_radiance * np.float32(exposure_s / self.spec.exposure_s)

    def add_noise(self, electrons: Float, frame: Frame, settings: Settings | None = None) -> None:
        """Noise of one frame, in place; a camera without noise still has its full-well limit."""
        spec = self.spec
        if spec.noise is None:
            np.minimum(electrons, np.float32(spec.full_well_e), out=electrons)
            return
        first = frame.sensor * electrons.size
        key = (frame.sensor, frame.world)
        if key not in self._patterns:
            self._patterns[key] = fixed_pattern(
                spec.noise, self._stream, values=electrons.size, first=first, world=frame.world
            )
        noisy_electrons(
            electrons,
            spec.noise,
            self._patterns[key],
            exposure_s=(settings or self.first_settings).exposure_s,
            full_well_e=spec.full_well_e,
            key=self._stream.key,
            tick=frame.tick,
            first=first,
            world=frame.world,
        )

    def digitized(
        self, electrons: Float, settings: Settings | None = None, *, converter: bool = True
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Image, and codes of the converter if there is one; a mosaic unchanged."""
        settings = settings or self.first_settings
        image, codes = digitized(
            electrons,
            bits=self.spec.bits,
            gamma=self.spec.gamma,
            balance=None if settings.balance is None else self._of_pixels(settings.balance),
            **self._conversion(settings, converter=converter),
        )
        return _flat(image), None if codes is None else _flat(codes)

    def shares(self, electrons: Float, settings: Settings, where: tuple[slice, slice]) -> Float:
        """Some pixels as shares of full scale, before white balance and gamma."""
        conversion = self._conversion(settings)
        if self.spec.mosaic is not None:
            conversion["gain"] = conversion["gain"][where]
        return share_of_full_scale(electrons[where], **conversion)

    def _conversion(self, settings: Settings, *, converter: bool = True) -> dict[str, Any]:
        """Gain and converter, as `digitized` takes them."""
        adc = self.spec.adc if converter else None
        return {
            "gain": self._gain if settings.gain == 1.0 else self._gain * np.float32(settings.gain),
            "full_well_e": self.spec.full_well_e,
            "adc_bits": None if adc is None else adc.bits,
            "gain_dn_e": None if adc is None else adc.gain_dn_e,
            "black_dn": 0.0 if adc is None else adc.black_dn,
        }

    def is_saturated(self, electrons: Float, settings: Settings) -> bool:
        """Whether every pixel that light comes to is full, or at the end of the scale."""
        lit = self.illumination > 0.0
        for every in (max(1, min(lit.shape) // 8), 1):  # most images have a pixel among the first that is not
            where = slice(None, None, every), slice(None, None, every)
            full = self.shares(electrons, settings, where) >= 1.0
            full |= electrons[where] >= np.float32(self.spec.full_well_e)
            if not full[lit[where]].all():
                return False
        return bool(lit.any())

    def colors(self, image: NDArray[Any]) -> NDArray[Any]:
        """A mosaic with its colors, where the camera makes them."""
        if self.spec.mosaic is None or not self.spec.demosaic:
            return image
        return demosaiced(image, self.spec.mosaic)

    def exposed(self, ideal: Float, inverse_depth: Float, frame: Frame, settings: Settings | None = None) -> Float:
        """The stages up to the electrons that a pixel has, noise included."""
        electrons = self.electrons(self.pixels(ideal, inverse_depth), settings)
        self.add_noise(electrons, frame, settings)
        return electrons

    def developed(self, electrons: Float, settings: Settings | None = None) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Those after that: image, and codes of the converter."""
        image, codes = self.digitized(electrons, settings)
        return self.colors(image), codes

    def unspoilt(self, ideal: Float, settings: Settings | None = None) -> NDArray[Any]:
        """The image that a perfect lens and quiet pixels would give, of an ideal image without its margin."""
        m = self.spec.sample_factor
        cells = ideal.reshape(self.spec.rows, m, self.spec.columns, m, ideal.shape[-1])
        electrons = cells.mean(axis=(1, 3), dtype=np.float32) * self._per_radiance(settings)
        np.minimum(electrons, np.float32(self.spec.full_well_e), out=electrons)
        if self.spec.mosaic is not None:
            electrons = mosaic(electrons, self.spec.mosaic)[..., None]
        return self.colors(self.digitized(electrons, settings, converter=False)[0])

    def stages(
        self, ideal: Float, inverse_depth: Float, frame: Frame, settings: Settings | None = None
    ) -> Iterator[tuple[str, NDArray[Any]]]:
        """Every stage with its name, each as shares of full scale or as the numbers of an image; for looking at."""
        spec, margin = self.spec, self.table.margin
        full = spec.full_well_e / np.max(self._per_radiance(settings))
        inner = ideal[margin : ideal.shape[0] - margin, margin : ideal.shape[1] - margin]
        yield "ideal", inner / full
        pixels = self.pixels(ideal, inverse_depth)
        yield "lens", pixels / full
        electrons = self.electrons(pixels, settings)
        yield "vignetting", electrons / spec.full_well_e
        self.add_noise(electrons, frame, settings)
        yield "noise", electrons / spec.full_well_e
        image, codes = self.digitized(electrons, settings)
        if codes is not None:
            yield "codes", codes
        yield "gain and gamma", image
        if spec.mosaic is not None and spec.demosaic:
            yield "colors", self.colors(image)


def _spots(spec: "Camera") -> SpotTable:
    """Spots of the lens; a lens described by its distortion has those of defocus alone, and no margin."""
    seidel = Seidel(spec.spherical, spec.astigmatism, spec.curvature, spec.distortion, spec.coma)
    table = spot_table(
        columns=spec.columns,
        rows=spec.rows,
        pitch_m=spec.pitch_m,
        factor=spec.sample_factor,
        pupil_rays=spec.pupil_rays,
        coefficients=seidel,
        focal_length_m=spec.focal_length_m,
        pupil_distance_m=spec.pupil_distance_m,
        pupil_radius_m=spec.pupil_radius_m,
    )
    return table if spec.lens == "seidel" else table._replace(margin=0)


def _flat(image: NDArray[Any]) -> NDArray[Any]:
    """Without the axis of a single band."""
    return image[..., 0] if image.shape[-1] == 1 else image
