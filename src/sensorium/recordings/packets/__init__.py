"""Packets of real lidars: one description of the bytes a layout, by which they are decoded and encoded."""
