"""Plots of readings, and the report of a run."""

from sensorium.view.plots import label_colors, overview, range_image, save_figure, top_view
from sensorium.view.report import Report
from sensorium.view.viewer import Live, show

__all__ = ["Live", "Report", "label_colors", "overview", "range_image", "save_figure", "show", "top_view"]
