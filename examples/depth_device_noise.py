"""Noise of depth over distance, from the data sheets of depth cameras."""

import numpy as np

import sensorium as sn
from sensorium.view import save_figure
from sensorium.view.depth_noise_plots import depth_noise_plot, noise_of

names = ("intel-realsense-d455", "intel-realsense-d435", "microsoft-azure-kinect-nfov", "pmd-flexx2", "st-vl53l5cx")
cameras = {name: sn.DepthCamera.from_device(name) for name in names}
for name, camera in cameras.items():
    near, far = 1e3 * noise_of(camera, np.array([1.0, 3.0]))
    print(f"{name}: {near:.1f} mm at 1 m, {far:.1f} mm at 3 m")
save_figure("depth_device_noise.png", depth_noise_plot(cameras, title="Noise of depth straight ahead, 1 sigma"))
