"""Runs and files in Rerun, a viewer for robots' data; needs the extra `view`.

`stream` is all that knows Rerun. `live` shows an environment while it runs, `mcap_file` and `pcd_file` read recordings,
`show` chooses what to do with a file.
"""

from sensorium.view.viewer.live import Live
from sensorium.view.viewer.show import show

__all__ = ["Live", "show"]
