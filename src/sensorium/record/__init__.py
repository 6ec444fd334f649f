"""Writers of what was sensed, one format a file."""

from sensorium.record.clouds import CloudRecorder
from sensorium.record.images import ImageRecorder
from sensorium.record.kitti import save_kitti
from sensorium.record.las import save_las
from sensorium.record.mcap import McapRecorder
from sensorium.record.npz import load_npz, save_npz
from sensorium.record.pcd import save_pcd
from sensorium.record.ply import save_ply, write_ply
from sensorium.record.png import save_png
from sensorium.record.recover import Recovery, recover
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
