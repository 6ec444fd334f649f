"""Recorders of readings, one format a file."""

from sensorium.record.clouds.kitti import save_kitti
from sensorium.record.clouds.las import save_las
from sensorium.record.clouds.pcd import save_pcd
from sensorium.record.clouds.ply import save_ply, write_ply
from sensorium.record.clouds.save import CloudRecorder
from sensorium.record.images import ImageRecorder
from sensorium.record.mcap.recorder import McapRecorder
from sensorium.record.mcap.recover import Recovery, recover
from sensorium.record.npz import load_npz, save_npz
from sensorium.record.png import save_png
from sensorium.record.signals import SignalRecorder
from sensorium.record.tiff import save_tiff

__all__ = [
    "CloudRecorder",
    "ImageRecorder",
    "McapRecorder",
    "Recovery",
    "SignalRecorder",
    "load_npz",
    "recover",
    "save_kitti",
    "save_las",
    "save_npz",
    "save_pcd",
    "save_ply",
    "save_png",
    "save_tiff",
    "write_ply",
]
