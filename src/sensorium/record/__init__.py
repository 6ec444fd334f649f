"""Recorders of readings, one format a file."""

from sensorium.record.clouds.las import save_las
from sensorium.record.clouds.pcd import save_kitti, save_pcd
from sensorium.record.clouds.ply import save_ply, save_ply_points
from sensorium.record.clouds.save import CloudRecorder
from sensorium.record.images import ImageRecorder
from sensorium.record.mcap.recorder import McapRecorder
from sensorium.record.mcap.recover import Recovery, recover
from sensorium.record.npz import load_npz, save_npz
from sensorium.record.pictures import save_png, save_tiff
from sensorium.record.recorder import Recorder
from sensorium.record.signals import SignalRecorder

__all__ = [
    "CloudRecorder",
    "ImageRecorder",
    "McapRecorder",
    "Recorder",
    "Recovery",
    "SignalRecorder",
    "load_npz",
    "recover",
    "save_kitti",
    "save_las",
    "save_npz",
    "save_pcd",
    "save_ply",
    "save_ply_points",
    "save_png",
    "save_tiff",
]
