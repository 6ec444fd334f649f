"""Runs and files in Rerun, a viewer for robots' data; needs the extra `view`.

Only `stream` uses Rerun. `live` shows an environment while it runs, `mcap_file` and `pcd_file` read recordings, `show`
selects the reader of a file.
"""

from sensorium.view.viewer.live import Live
from sensorium.view.viewer.show import show

__all__ = ["Live", "show"]
