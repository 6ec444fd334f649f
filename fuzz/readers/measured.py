"""Recordings of real devices other than lidars: read, and measured."""

from pathlib import Path

import numpy as np

from fuzz.reader import Reader, must_be_finite
from sensorium.core.errors import SpecError
from sensorium.record.pictures import save_png
from sensorium.recordings.measure.camera import measure_camera
from sensorium.recordings.measurement import Measurement
from sensorium.recordings.readers.emva1288 import read_emva1288

_NUMBERS = (b"nan", b"-1", b"1e308", b"1e-308", b"0", b"inf", b" ", b"\n", b"99999999999")


def _finite(found: Measurement) -> None:
    for figure in found.figures:
        must_be_finite(**{figure.quantity: [figure.value, figure.low, figure.high]})
    for curve in found.curves:
        must_be_finite(**{curve.quantity: np.concatenate([curve.x, curve.y, curve.low, curve.high])})


# EMVA 1288

_LEVELS = 8


def _flat(k: int, level: int) -> np.ndarray:
    return np.random.default_rng(k).poisson(20 + 30 * level, (6, 8)).clip(0, 240).astype(np.uint8)


def _emva(path: Path) -> None:
    folder = path.parent / "images"
    if not folder.is_dir():
        folder.mkdir()
        for level in range(_LEVELS + 1):
            for k in range(3):
                save_png(folder / f"{level}_{k}.png", _flat(3 * level + k, level))
    _finite(measure_camera(read_emva1288(path)))


def _emva_sets(folder: Path) -> list[bytes]:
    pairs = [f"b {1000 * k} {60 * k}\ni images/{k}_0.png\ni images/{k}_1.png\n" for k in range(1, _LEVELS + 1)]
    dark = [f"d {1000 * k}\ni images/0_0.png\ni images/0_1.png\n" for k in range(1, _LEVELS + 1)]
    whole = "v 3.0\nn 8 8 6\n" + "".join(pairs + dark) + "b 4000 240\n"
    whole += "".join(f"i images\\4_{k}.png\n" for k in range(3)) + "d 4000\n"
    return [(whole + "".join(f"i images\\0_{k}.png\n" for k in range(3))).encode()]


READERS = (
    Reader(
        *("emva1288", ".txt", _emva, (SpecError,), _emva_sets),
        ("sensorium.recordings.readers.emva1288", "sensorium.recordings.measure.camera"),
        words=(b"\nb ", b"\nd ", b"\ni ", b"\nn ", b"images/1_0.png", b"images\\0_0.png", b"../", b"#", *_NUMBERS),
    ),
)
