"""The interface of media: propagation of light at a wavelength, and backscatter."""

import abc
import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec

# Air at about 15 degrees C and sea-level pressure, in the near infrared
AIR_INDEX = 1.000273

# Lidar ratio (extinction over backscatter) of water droplets [sr]
DROPLET_LIDAR_RATIO_SR = 20.0

RefractiveIndex = Annotated[float, Field(ge=1.0)]
"""Real refractive index [1], at least 1."""

Probability = Annotated[float, Field(ge=0.0, le=1.0)]
"""A share of all rays [1], 0 to 1."""

Positive = Annotated[float, Field(gt=0.0)]
"""A number greater than 0."""


@dataclass(frozen=True)
class MediumParameters:
    """A medium at one wavelength.

    Attributes:
        refractive_index: Real part n [1].
        extinction_per_m: Extinction alpha, absorption and scattering together [1/m of geometric path].
        backscatter_per_m_sr: Backscatter coefficient beta_pi [1/(m sr)].
        gamma_shape: Shape k of the law of return distances [1].
        gamma_scale_m: Scale theta of that law [m].
        gamma_probability: Share of rays in an endless path of this medium that return from it [1]; 0 is none.
    """

    refractive_index: float = 1.0
    extinction_per_m: float = 0.0
    backscatter_per_m_sr: float = 0.0
    gamma_shape: float = 1.0
    gamma_scale_m: float = 1.0
    gamma_probability: float = 0.0


class AbstractMedium(Spec, abc.ABC):
    """A homogeneous medium: frozen, validated data, evaluated at a wavelength."""

    model_config = ConfigDict(frozen=True)

    @abc.abstractmethod
    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""


class AbstractScatterer(AbstractMedium):
    """Air with particles in it that throw light back: fog, rain, snow, dust.

    Returns from such air are at a distance x behind the point of entry that follows a gamma law of shape k and scale
    theta, and only a share p of the rays has one: in a path of length d the share p F(d), F the law's cumulative curve
    (AGX Sensor paper, section 2.3). These three belong to the sensor as much as to the air; if they have not been
    measured the defaults are used. Shape and scale are those of Algoryx' public plugins. The probability is our own
    rule, p = (1 - exp(-2 alpha k theta))^2, which grows from 0 in clear air to 1 in the densest fog and comes within 1
    % of the only value the plugins publish, 1.59e-5 at alpha = 4.02e-4 1/m.
    """

    refractive_index: RefractiveIndex = AIR_INDEX
    """Real refractive index [1]."""
    lidar_ratio_sr: Positive = DROPLET_LIDAR_RATIO_SR
    """Extinction over backscatter [sr]. 20 is right for water droplets, and assumed for all other particles."""
    gamma_shape: Positive = 9.5
    """Shape k of the law of return distances [1]."""
    gamma_scale_m: Positive = 0.52
    """Scale theta of that law [m]; the mean distance is k theta."""
    gamma_probability: Probability | None = None
    """Share p of rays that return from the air in an endless path [1]; None takes the rule above, 0 is none."""

    def _parameters(self, extinction_per_m: float) -> MediumParameters:
        """All parameters, from the extinction alpha [1/m]."""
        probability = self.gamma_probability
        if probability is None:
            probability = assumed_return_probability(extinction_per_m, self.gamma_shape * self.gamma_scale_m)
        return MediumParameters(
            refractive_index=self.refractive_index,
            extinction_per_m=extinction_per_m,
            backscatter_per_m_sr=extinction_per_m / self.lidar_ratio_sr,
            gamma_shape=self.gamma_shape,
            gamma_scale_m=self.gamma_scale_m,
            gamma_probability=probability,
        )


def assumed_return_probability(extinction_per_m: float, mean_distance_m: float) -> float:
    """Share of rays that return from the air, if it has not been measured [1].

    p = (1 - exp(-2 alpha x))^2, the square of the loss on the round trip to the mean return distance x = k theta. An
    assumption, not a law: see `AbstractScatterer`.

    Args:
        extinction_per_m: Extinction alpha [1/m].
        mean_distance_m: Mean return distance k theta [m].
    """
    return math.expm1(-2.0 * extinction_per_m * mean_distance_m) ** 2
