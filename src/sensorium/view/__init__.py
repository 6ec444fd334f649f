"""Pictures of what was sensed."""

from sensorium.view.plots import label_colours, overview, range_image, save, top_view

__all__ = ["label_colours", "overview", "range_image", "save", "top_view"]
