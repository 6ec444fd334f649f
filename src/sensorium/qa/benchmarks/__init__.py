"""Speed, measured as ratios within one run: what a sensor costs beyond the bare trace, and against peers."""
