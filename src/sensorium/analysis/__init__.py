"""Analysis of recordings: Allan deviation and the noise parameters fitted to it."""

from sensorium.analysis.allan import Allan, allan_deviation
from sensorium.analysis.allan_fit import AllanFit, fit_allan
from sensorium.analysis.gauss_markov import gauss_markov_deviation
from sensorium.analysis.signal_log import SignalLog, read_log

__all__ = ["Allan", "AllanFit", "SignalLog", "allan_deviation", "fit_allan", "gauss_markov_deviation", "read_log"]
