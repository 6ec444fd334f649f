"""Plots of readings, and the report of a run."""

from sensorium.view.plots import label_colours, overview, range_image, save, top_view
from sensorium.view.report import Report
from sensorium.view.viewer import Live, show

__all__ = ["Live", "Report", "label_colours", "overview", "range_image", "save", "show", "top_view"]
