"""Writers of what was sensed, one format a file."""

from sensorium.record.kitti import save_kitti
from sensorium.record.las import save_las
from sensorium.record.mcap import McapRecorder
from sensorium.record.npz import load_npz, save_npz
from sensorium.record.pcd import save_pcd
from sensorium.record.ply import write_ply
from sensorium.record.recover import Recovery, recover

__all__ = [
    "McapRecorder",
    "Recovery",
    "load_npz",
    "recover",
    "save_kitti",
    "save_las",
    "save_npz",
    "save_pcd",
    "write_ply",
]
