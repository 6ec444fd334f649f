"""Random numbers: the generator's known answers, and the distributions made from it."""

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Axis, Comparison, Family

RANDOM = Family("Random numbers")

_FULL = 0xFFFFFFFF


@RANDOM.check(
    "philox",
    "Philox 4x32-10 gives the known answers of its authors.",
    reference="Salmon et al. 2011, Random123 kat_vectors",
)
def _philox(quick: bool) -> Comparison:
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    cases = (((0, 0, 0, 0), (0, 0)), ((_FULL,) * 4, (_FULL,) * 2), pi)
    found = [
        word for counter, key in cases for word in sn.random.philox(*map(np.uint32, counter), *map(np.uint32, key))
    ]
    expected = [
        *(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        *(0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        *(0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ]
    return Comparison(np.array(found, float), expected, x=Axis("word"), y=Axis("value"))


@RANDOM.check(
    "laws",
    "Uniform, normal, exponential, gamma and Poisson numbers have SciPy's distributions.",
    reference="Kolmogorov-Smirnov and chi-square. p below 1e-4 would mean another law",
    side="at least",
)
def _laws(quick: bool) -> Comparison:
    from scipy import stats

    count = 50_000 if quick else 1_000_000
    stream = sn.random.Stream(7, "validation")
    ks = {
        "uniform": (stream.uniform(1, 0, 0, elements=count), stats.uniform()),
        "normal": (stream.normal(2, 0, 0, elements=count), stats.norm()),
        "exponential": (stream.exponential(3, 0, 0, elements=count), stats.expon()),
        "gamma": (stream.gamma(4, 0, 0, shape=2.5, scale=1.0, elements=count), stats.gamma(2.5)),
    }
    found = [stats.kstest(np.asarray(x, float).ravel(), law.cdf).pvalue for x, law in ks.values()]
    counts = np.bincount(
        np.asarray(stream.poisson(5, 0, 0, mean=6.0, elements=count)).ravel().astype(int), minlength=30
    )
    kept = counts[:18].astype(float)
    chance = stats.poisson(6.0).pmf(np.arange(18))
    found.append(stats.chisquare(kept, chance / chance.sum() * kept.sum()).pvalue)
    p_values = [float(value) for value in found]
    return Comparison(
        p_values, 1e-4, x=Axis("uniform, normal, exponential, gamma, Poisson"), y=Axis("p-value", log=True)
    )
