"""The yard of the gallery's `yard-drive`, and pictures of a drive round it.

`models` builds objects from simple shapes, `yard` places them, `pictures` draws the lidar's scans. The moving bodies
and the sensors are in the scenario's own file.
"""
