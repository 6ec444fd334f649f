"""The yard of the gallery's `yard-drive`, and pictures of a drive round it.

`models` builds things from simple shapes, `yard` puts them in their places, `pictures` draws what a lidar saw there.
What moves, and what measures, is in the scenario's own file.
"""
