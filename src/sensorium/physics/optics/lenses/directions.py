"""The cosines a BRDF depends on, from vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked_unit


@dataclass(frozen=True)
class Directions:
    """Cosines between the normal n, the directions l to the source and v to the detector, and h halfway between."""

    cos_l: Array
    cos_v: Array
    cos_h: Array
    cos_lh: Array
    l_dot_v: Array


def directions(to_source: ArrayLike, to_detector: ArrayLike, normal: ArrayLike) -> Directions:
    """Cosines between unit vectors of shape (*batch, 3); h = (l + v) / |l + v|, or n where l = -v."""
    source, detector = checked_unit("to_source", to_source), checked_unit("to_detector", to_detector)
    source, detector, up = np.broadcast_arrays(source, detector, checked_unit("normal", normal))
    sum_ = source + detector
    length = np.linalg.norm(sum_, axis=-1, keepdims=True)
    halfway = np.divide(sum_, length, out=np.array(up), where=length > 0)
    return Directions(
        cos_l=_cosine(up, source),
        cos_v=_cosine(up, detector),
        cos_h=_cosine(up, halfway),
        cos_lh=_cosine(source, halfway),
        l_dot_v=_cosine(source, detector),
    )


def _cosine(a: Array, b: Array) -> Array:
    return np.clip(np.sum(a * b, axis=-1), -1.0, 1.0)
