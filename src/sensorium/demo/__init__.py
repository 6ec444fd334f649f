"""The built-in demonstration: a small yard, and a van that drives round it with a lidar on its roof.

`models` builds things from simple shapes, `yard` puts them in their places and says how they move, `drive`
senses and writes the results. Read them in that order.
"""
