"""Speed, measured as ratios within one run: the cost of a sensor relative to the bare trace, and to peers."""
