import matplotlib as mpl
import numpy as np
import pytest

from sensorium.analysis import allan_deviation, fit_allan
from sensorium.view import plots
from sensorium.view.allan_plots import allan_plot


def fit_of(channels, terms="NBK", units="rad/s"):
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((20_000, channels)) + 0.003 * rng.standard_normal((20_000, channels)).cumsum(axis=0)
    return fit_allan(allan_deviation(signal, 100.0), terms=terms, units=units)


@pytest.mark.parametrize(("channels", "rows"), [(1, 1), (2, 1), (3, 1), (5, 2)])
def test_every_channel_has_its_panel(channels, rows, tmp_path):
    from PIL import Image

    fit = fit_of(channels)
    figure = allan_plot(fit, title="Of a log")
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in shown] == list(fit.channels)
    assert len(figure.axes) == rows * min(channels, 3)
    assert all(axes.get_xscale() == axes.get_yscale() == "log" for axes in shown)
    plots.save_figure(tmp_path / "allan.png", figure)
    picture = Image.open(tmp_path / "allan.png").convert("RGB")
    assert len(picture.getcolors(picture.width * picture.height)) > 100


def test_lines_are_what_was_measured_and_fitted():
    fit = fit_of(2, terms="QNBKR")
    figure = allan_plot(fit)
    measured, whole, *parts = figure.axes[1].get_lines()
    np.testing.assert_array_equal(measured.get_xdata(), fit.allan.tau_s)
    np.testing.assert_array_equal(measured.get_ydata(), fit.allan.deviation[:, 1])
    np.testing.assert_allclose(whole.get_ydata(), fit.deviation(whole.get_xdata())[:, 1])
    seen = [term for term in fit.terms if fit.coefficients[term][1] > 0.0]
    assert len(parts) == len(seen)
    for line, term in zip(parts, seen, strict=True):
        np.testing.assert_allclose(line.get_ydata(), fit.parts(line.get_xdata())[term][:, 1])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:3] == ["measured", "its 95 % interval", "fit"]
    assert len(names) == 8


def test_panels_of_one_unit_share_their_scale():
    figure = allan_plot(fit_of(3, units=["rad/s", "rad/s", "m/s^2"]))
    first, second, third = figure.axes
    assert first.get_ylim() == second.get_ylim() != third.get_ylim()
    assert "[rad/s]" in first.get_ylabel()
    assert second.get_ylabel() == ""
    assert "[m/s^2]" in third.get_ylabel()


def test_a_coefficient_is_told_with_its_interval_or_its_limit():
    fit = fit_of(1)
    (text,) = figure_texts(allan_plot(fit))
    told = dict(zip(fit.terms, text.splitlines(), strict=True))
    assert told["N"].startswith(f"N = {float(fit.N[0]):.2e} ±")
    fit.intervals["B"][0] = 0.0
    (text,) = figure_texts(allan_plot(fit))
    assert f"B < {float(fit.intervals['B'][1, 0]):.2e}" in text


def figure_texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_matplotlib_s_global_state_stays_as_it_was():
    before = dict(mpl.rcParams)
    allan_plot(fit_of(1))
    assert dict(mpl.rcParams) == before
