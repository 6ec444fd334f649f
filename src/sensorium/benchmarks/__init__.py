"""Speed, measured as ratios within one run: what a sensor costs beyond the bare trace of its rays, and against peers."""
