"""The back end on NVIDIA Warp."""
