"""Pictures of what was sensed, and the report of a run."""

from sensorium.view.plots import label_colours, overview, range_image, save, top_view
from sensorium.view.report import Report

__all__ = ["Report", "label_colours", "overview", "range_image", "save", "top_view"]
